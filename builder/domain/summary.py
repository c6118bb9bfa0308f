"""The body of a summary, and what a summariser reads."""

import json
from dataclasses import dataclass, fields

from builder.domain.breadcrumb import Breadcrumb, Role
from builder.domain.json_values import JsonObject

Source = tuple[str, int]
"""Id and version of a breadcrumb that something was made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLine:
    """One line of a summary."""

    text: str
    """Begins with the speaker's name; a question and its answer are two lines."""
    day: str
    """On which its episode began, as "8 May 2023"."""
    ids: tuple[str, ...]
    """Breadcrumbs that it was made from; a deleted or edited one hides the line."""
    versions: tuple[int, ...]
    verbatim: bool = False
    """Kept word for word on request, outside the cap."""
    rank: int = 0
    """0 = tells most. A page without room for all leaves out the highest ranks first, and of equal ones the oldest."""
    id: str = ""
    """Id of an observation, which a model wrote in words of its own; "" = it is none."""
    subject: str = ""
    """Subject of an observation, in a word or three."""
    replaces: str = ""
    """Id of an earlier observation that holds no more because of this one; "" = it replaces none."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The breadcrumbs that it was made from."""
        return tuple(zip(self.ids, self.versions, strict=True))

    @property
    def is_lasting(self) -> bool:
        """Whether only the summary that first covers its sources contains it."""
        return self.verbatim or bool(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The body of a summary."""

    lines: tuple[KeptLine, ...]
    """All lines of the chain, but of lasting ones only the newly covered ones: the earlier summaries have theirs."""
    covered: tuple[str, ...]
    """Ids that it stands for and no earlier summary of its chain does in that version."""
    versions: tuple[int, ...]
    previous: str
    last: str
    """Id of the breadcrumb that heads the last unit it covers."""
    recipe: str
    by: str
    """"extractive" or the name of a model."""
    language: str
    """Language of most of its words, ISO 639-1; "und" = unknown."""
    at_once: bool = False
    """Made on demand, so the next page shows it. Any other waits until the window moves, which changes the page's beginning."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The breadcrumbs that it newly stands for."""
        return tuple(zip(self.covered, self.versions, strict=True))

    def body(self) -> JsonObject:
        """As JSON values; `asdict` is too slow for a long one."""
        return _values(self) | {"lines": [_values(line) for line in self.lines]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A breadcrumb of a batch, as a summariser reads it."""

    id: str
    version: int
    speaker: str
    role: Role
    text: str
    day: str
    """As in `KeptLine`."""


def read_summary(breadcrumb: Breadcrumb) -> Summary:
    """The body, validated by `decode`. Without versions all are first ones."""
    body = json.loads(breadcrumb.body)
    return Summary(
        lines=tuple(
            KeptLine(
                text=line["text"],
                day=line.get("day", ""),
                ids=tuple(line["ids"]),
                versions=tuple(line["versions"]),
                verbatim=line.get("verbatim", False),
                rank=line.get("rank", 0),
                **{name: line.get(name, "") for name in ("id", "subject", "replaces")},
            )
            for line in body["lines"]
        ),
        covered=tuple(body["covered"]),
        versions=tuple(body.get("versions") or (1,) * len(body["covered"])),
        previous=body.get("previous", ""),
        last=body["last"],
        recipe=body["recipe"],
        by=body.get("by", ""),
        language=body.get("language", "und"),
        at_once=body.get("at_once", False),
    )


def _values(part: KeptLine | Summary) -> JsonObject:
    return {field.name: getattr(part, field.name) for field in fields(part)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """The result of `compact`."""

    units: int
    """That the summary stands for; 0 = nothing was summarised."""
    covered: int
    tokens_before: int
    """Tokens of the units, as pages show them."""
    tokens_after: int
    """Tokens of the summary that stands for them, as pages show it."""
    summary: str
    reason: str = ""
    """Why nothing was published, for people; "" when a summary was."""
