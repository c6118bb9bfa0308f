"""Models: the engine that turns text into vectors, and the one that may write summaries."""

from typing import Protocol

from builder.domain.summary import Line, Utterance

NO_MODEL = "none"
"""Id of an engine that is never there."""


class Embedder(Protocol):
    """Turns text into a unit vector. A vector is a function of its text and of `model` alone."""

    @property
    def model(self) -> str:
        """Id of the engine, the hash of its weights included; known before the engine is there, "none" when it never is."""

    async def embed(self, text: str) -> bytes:
        """The vector; texts longer than the engine's window are cut there. Raises `Unavailable`, also while it is loading."""


class Summarizer(Protocol):
    """Makes the lines of a summary out of earlier lines and of what was said since. A fallback needs no such port."""

    @property
    def name(self) -> str:
        """What the summary names as its maker."""

    async def summarise(self, lines: tuple[Line, ...], utterances: tuple[Utterance, ...], cap: int) -> tuple[Line, ...]:
        """At most `cap` tokens of lines in the language of what was said, each with the breadcrumbs that it was made from.

        Raises `Unavailable` when there is nobody who could, or nothing useful came back after all attempts.
        """
