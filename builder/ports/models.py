"""Models: the engine that turns text into vectors, and the one that may write summaries."""

from typing import Protocol

from builder.domain.summary import KeptLine, Utterance

NO_MODEL = "none"


class Embedder(Protocol):
    """Turns text into a unit vector. A vector is a function of its text, of its side and of `model`."""

    batch: int
    """Texts that are best embedded at the same time; 1 where each has to wait for the one before."""

    @property
    def model(self) -> str:
        """Id of the engine with the hash of its weights, known before it is loaded; NO_MODEL without one."""

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:
        """The vector; texts longer than the engine's window are cut there. Raises `Unavailable`, also while it is loading.

        is_query: the text is searched for, not searched; some models tell the two apart.
        """


class Summarizer(Protocol):
    """Writes observations of what was said."""

    @property
    def name(self) -> str:
        """Name of the model, which the summary carries."""

    async def summarise(self, lines: tuple[KeptLine, ...], utterances: tuple[Utterance, ...], cap: int) -> tuple[KeptLine, ...]:
        """At most `cap` tokens of observations in the language of the utterances, each with what it was made from and replaces.

        lines: earlier observations that hold. Raises `Unavailable` when no useful answer came after all attempts.
        """
