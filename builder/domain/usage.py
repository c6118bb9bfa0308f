"""What agents report of the tokens that their provider counted, and which reports are about the same model."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

USAGE = "agent.usage.v1"
MODEL_TAG = "model:"
"""Beginning of the tag by which a report that counts is found; the model's undated name follows."""
NEWEST_REPORTS = 20
"""Reports about one model that count: a provider that changes its tokenizer is followed, a page counted badly is forgotten."""
MIN_TOKENS = 100
"""Tokens of a page below which a report does not count: the few that a provider adds to any text would outweigh its tokenizer."""
MAX_RATIO = 2
"""Ratio of the provider's count to ours, or of ours to theirs, above which a report does not count.

Tokenizers of today's models lie well within that for prose, code and JSON. A larger ratio nearly always means that something else
was counted: the whole prompt, or only what no prompt cache held. And more than half of a page is never kept free.
"""
_SEPARATORS = "-:@"
"""Between a model's name and its date or size."""
_TUNED = "ft:"
"""In front of a model's name, with the purpose of the tuning behind it: its tokenizer is the model's."""
_SIZE = re.compile(r"[:@].*", re.DOTALL)
_DATE = re.compile(r"(-(latest|preview|v\d|\d{3,8}|\d\d-\d\d(\d\d)?))+\Z")
"""What providers put behind a model's name: 20250514, 2024-08-06, 08-2024, 0613, 001, preview-05-06, 20250514-v1, latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One report about one context."""

    model: str
    """As the agent calls it."""
    counted: int
    """Our tokens of the page."""
    used: int
    """The provider's tokens of it."""

    @property
    def is_plausible(self) -> bool:
        """Whether both can have counted the same text; a small page allows any counts."""
        return self.counted < MIN_TOKENS or (self.used <= MAX_RATIO * self.counted and self.counted <= MAX_RATIO * self.used)

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags by which it is found; none when it does not count, so that it takes no other report's place."""
        counts = self.counted >= MIN_TOKENS and self.is_plausible
        return (tag_of(undated(self.model)),) if counts else ()


def tag_of(name: str) -> str:
    """The tag of reports about a model. name: undated."""
    return f"{MODEL_TAG}{name}"


def undated(model: str) -> str:
    """The name without a provider in front and without a date or, behind ":" or "@", a size: one for all versions of a model."""
    return _DATE.sub("", _SIZE.sub("", _bare(model).removeprefix(_TUNED)))


def known_name(model: str, names: Iterable[str]) -> str:
    """The longest of the names that is the model's, or of which it is a dated or sized version; "" = none is."""
    bare = _bare(model)
    matches = (name for name in names if bare == name or bare.startswith(tuple(f"{name}{mark}" for mark in _SEPARATORS)))
    return max(matches, key=len, default="")


def _bare(model: str) -> str:
    """The name without a provider in front."""
    return model.rpartition("/")[2]
