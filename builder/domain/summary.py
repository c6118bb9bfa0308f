"""A summary's body as frozen values, and what a summariser is given."""

import json
from dataclasses import dataclass, fields
from typing import Any

from builder.domain.breadcrumb import Breadcrumb, Role

SUMMARY = "summary.v1"
"""Schema of a summary: what it says was made from what others said."""

Source = tuple[str, int]
"""Id and version of a breadcrumb that something was made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a summary.

    text: with the speaker's name in front; of a question and its answer, one below the other. day: on which its episode began, as
    "8 May 2023".
    ids, versions: of the breadcrumbs that it was made from; once one of them is deleted or edited the line is shown no more.
    verbatim: somebody asked to keep it word for word, outside the cap.
    rank: 0 for the line that tells most; where not all have room on a page, those of the highest rank are left out first, and of
    equal ones the oldest.
    """

    text: str
    day: str
    ids: tuple[str, ...]
    versions: tuple[int, ...]
    verbatim: bool = False
    rank: int = 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it was made from."""
        return tuple(zip(self.ids, self.versions, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the body of a summary says.

    lines: of those kept word for word only the ones that it newly covers: its chain has the others. All others it says anew.
    covered, versions: what it stands for and no earlier summary of its chain does in that version. previous: id of the summary
    that it continues. last: id of the breadcrumb that heads the last unit it covers. recipe: of what settings. by: who made it,
    "extractive" or the name of a model. language: most of its words, ISO 639-1, "und" when nobody knows. at_once: made on demand,
    so the next page shows it; any other waits until the hot window moves, because then the page's beginning changes anyway
    (features H4).
    """

    lines: tuple[Line, ...]
    covered: tuple[str, ...]
    versions: tuple[int, ...]
    previous: str
    last: str
    recipe: str
    by: str
    language: str
    at_once: bool = False

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it newly stands for."""
        return tuple(zip(self.covered, self.versions, strict=True))

    def body(self) -> dict[str, Any]:
        """As JSON values; `asdict` would take most of a build's time for a long one."""
        return _values(self) | {"lines": [_values(line) for line in self.lines]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A breadcrumb of a batch, as a summariser sees it. day: as in `Line`."""

    id: str
    version: int
    speaker: str
    role: Role
    text: str
    day: str


def read_summary(breadcrumb: Breadcrumb) -> Summary:
    """What its body says, which the wire has checked. Summaries that name no versions stand for first ones."""
    body = json.loads(breadcrumb.body)
    return Summary(
        lines=tuple(_line(line) for line in body["lines"]),
        covered=tuple(body["covered"]),
        versions=tuple(body.get("versions") or (1,) * len(body["covered"])),
        previous=body.get("previous", ""),
        last=body["last"],
        recipe=body["recipe"],
        by=body.get("by", ""),
        language=body.get("language", "und"),
        at_once=body.get("at_once", False),
    )


def _values(held: Line | Summary) -> dict[str, Any]:
    return {field.name: getattr(held, field.name) for field in fields(held)}


def _line(line: dict[str, Any]) -> Line:
    return Line(
        text=line["text"],
        day=line.get("day", ""),
        ids=tuple(line["ids"]),
        versions=tuple(line["versions"]),
        verbatim=line.get("verbatim", False),
        rank=line.get("rank", 0),
    )
