"""What agents report of the tokens that their provider counted, and whose reports are about the same model (features C8)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

USAGE = "agent.usage.v1"
MARKS = "-:@"
"""What stands between a model's name and its date or size."""
MODEL = "model:"
"""Of the tag by which a report that counts is found: its model's undated name stands behind it."""
TUNED = "ft:"
"""In front of a model's name, with what it was tuned to behind it: its tokenizer is the model's."""
NEWEST_REPORTS = 20
"""Reports about one model that count: a provider that changes its tokenizer is followed, a page counted badly is forgotten."""
SIZED = re.compile(r"[:@].*", re.DOTALL)
DATED = re.compile(r"(-(latest|preview|v\d|\d{3,8}|\d\d-\d\d(\d\d)?))+\Z")
"""What providers put behind a model's name: 20250514, 2024-08-06, 08-2024, 0613, 001, preview-05-06, 20250514-v1, latest."""
SMALLEST = 100
"""Tokens of a page below which a report does not count: the few that a provider adds to any text would outweigh its tokenizer."""
FURTHEST = 2
"""How many times more, or less, than we a provider may count for its report to count.

Tokenizers of today's models lie well within that for prose, code and JSON. What lies beyond is nearly always another thing that
was counted: the whole prompt, or only what no prompt cache held. And more than half of a page is never kept free, whoever counts.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One report about one context. model: as the agent calls it. counted: our tokens of its page; used: the provider's."""

    model: str
    counted: int
    used: int

    @property
    def is_plausible(self) -> bool:
        """Whether both can have counted the same text; of a small page that cannot be told."""
        return self.counted < SMALLEST or (self.used <= FURTHEST * self.counted and self.counted <= FURTHEST * self.used)

    @property
    def tags(self) -> tuple[str, ...]:
        """By which it is found; none when it does not count, so that it takes no other report's place."""
        counts = self.counted >= SMALLEST and self.is_plausible
        return (tag_of(undated(self.model)),) if counts else ()


def tag_of(name: str) -> str:
    """The tag of reports about a model. name: undated."""
    return f"{MODEL}{name}"


def bare(model: str) -> str:
    """The name without a provider in front."""
    return model.rpartition("/")[2]


def undated(model: str) -> str:
    """The name without a provider in front and without a date or, behind ":" or "@", a size: one for all versions of a model."""
    return DATED.sub("", SIZED.sub("", bare(model).removeprefix(TUNED)))


def known_as(model: str, known: Iterable[str]) -> str:
    """The longest of the known names that is the model's, or of which it is a dated or sized version; "" = none is."""
    name = bare(model)
    its = (held for held in known if name == held or name.startswith(tuple(f"{held}{mark}" for mark in MARKS)))
    return max(its, key=len, default="")
