"""What agents report of the tokens that their provider counted, and whose reports are about the same model (features C8)."""

from collections.abc import Iterable
from dataclasses import dataclass

USAGE = "agent.usage.v1"
MARKS = "-:@"
"""What stands between a model's name and its date or size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One report about one context. model: as the agent calls it. counted: our tokens of its page; used: the provider's."""

    model: str
    counted: int
    used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A language model. name: without a provider in front. others: known models whose names begin like a version of it."""

    name: str
    others: tuple[str, ...] = ()

    def is_called(self, model: str) -> bool:
        """Whether an agent that says `model` means this one."""
        return known_as(model, (self.name, *self.others)) == self.name


def bare(model: str) -> str:
    """The name without a provider in front."""
    return model.rpartition("/")[2]


def known_as(model: str, known: Iterable[str]) -> str:
    """The longest of the known names that is the model's, or of which it is a dated or sized version; "" = none is."""
    name = bare(model)
    return max((held for held in known if name == held or is_version(name, held)), key=len, default="")


def is_version(name: str, of: str) -> bool:
    """Whether a name is another one with a date or a size behind it."""
    return name.startswith(tuple(f"{of}{mark}" for mark in MARKS))
