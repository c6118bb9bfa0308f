"""How much of a breadcrumb is rendered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from builder.domain.tool_output import Cut

Spans = tuple[tuple[int, int], ...]
"""Character offsets into a breadcrumb's text, in order; () = the whole text."""
Line = Literal["", "placeholder", "folded", "superseded"]

FOLD_REASON = "folded to one line"
"""Why a result is one line: it yields to what is newer."""
LINE_REASONS: dict[Line, str] = {
    "": "",
    "folded": FOLD_REASON,
    "placeholder": "older tool turn, one line",
    "superseded": "the same call was answered again later",
}
"""Why a result is one line only, as omissions say it."""
LINE_ONLY = frozenset(filter(None, LINE_REASONS.values()))
"""Reasons of a fragment that is one line of ours."""
MIN_PART_TOKENS = 64
"""Tokens below which a part of a message says nothing."""
NO_CUT = Cut(results=None, characters=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderForm:
    """The part of a breadcrumb that is rendered, and its form."""

    spans: Spans = ()
    is_bare: bool = False
    """Without signs for what the spans leave out."""
    times: int = 1
    """How often the same was said."""
    call: str = ""
    """Request id of the call that is rendered instead of the text; "" = the text."""
    below: str = ""
    """Name of the phrase below a call that has no result below."""
    answer: bool = False
    """The result is below its call."""
    line: Line = ""
    """Why the result is one line; "" = it is more."""
    cut: Cut = NO_CUT
    """Limits of the result list."""
    characters: int | None = None
    """Limit of the whole; None = all."""


WHOLE = RenderForm()


def even_caps(sizes: Sequence[int], room: int) -> list[int]:
    """Tokens of each when all share the room evenly; what is smaller leaves the others more."""
    caps = [0] * len(sizes)
    for number, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        caps[index] = min(sizes[index], max(room, 0) // (len(sizes) - number))
        room -= caps[index]
    return caps
