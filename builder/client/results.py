"""What the service answers, as frozen dataclasses. Fields that a newer service adds are ignored."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Unavailable
from builder.domain.selector import Selector
from builder.domain.triggers import matches_one, trigger_on, trigger_text
from builder.wire.json import shape
from builder.wire.session_names import session_text

T = TypeVar("T")
Session = Annotated[str, BeforeValidator(lambda token: session_text(token) if isinstance(token, str) else token)]
"""A session by its text, as it was given to the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadcrumbRecord:
    """A breadcrumb as the service has stored it."""

    id: str
    version: int
    """1 and up."""
    schema: Annotated[str, Field(validation_alias="schema_name")]
    workspace: str
    session: Session
    sequence: Annotated[int, Field(validation_alias="seq")]
    """In the stream."""
    speaker: str
    """The display name."""
    user_id: str | None
    """Who the person is; None = unknown."""
    created_at: datetime
    """By the sender's clock, with its offset."""
    expires_at: datetime | None
    """None = never."""
    tags: tuple[str, ...]
    text: str
    """What pages show and searches find."""
    body: Annotated[dict[str, Any], Field(validation_alias="context")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was erased for one breadcrumb in one session."""

    id: str
    workspace: str
    session: Session
    by: str
    """Who demanded it, for people; `System` when nobody was named."""
    at: datetime
    versions: int
    """Of the breadcrumb."""
    summaries: tuple[str, ...]
    """Ids of the summaries that were made from it."""
    messages: int
    """Messages of the stream."""
    contexts: int
    """Published contexts that showed it, or a summary of it."""
    dead_letters: int
    cached: int
    """Entries of caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReceipt:
    """What was erased for a person."""

    user_id: str
    by: str
    """Who demanded it."""
    receipts: tuple[Receipt, ...]
    """One a breadcrumb, in the order in which they went; none when nothing was remembered."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """In which something was erased, sorted."""
        return tuple(sorted({receipt.session for receipt in self.receipts}))

    @property
    def summaries(self) -> tuple[str, ...]:
        """Ids of the summaries that were made from what was erased, sorted."""
        return tuple(sorted({summary for receipt in self.receipts for summary in receipt.summaries}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """An agent that a profile of the service names."""

    name: str
    triggers: tuple[str | Selector, ...]
    """What causes a context: a schema, or a selector; empty = nothing does."""
    audience: Selector | None = None
    """The breadcrumbs that may cause one; None = all."""
    origin: str = ""
    """The profile file, or the records, that make it."""

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The triggers, each as a selector."""
        return tuple(trigger_on(each) if isinstance(each, str) else each for each in self.triggers)

    def refusal(self, breadcrumb: Breadcrumb) -> str:
        """Why this breadcrumb causes no context for it, in a sentence; "" = it causes one."""
        if not self.triggers:
            return f"no contexts come for {self.name!r}: its profile has no triggers; add one"
        if not matches_one(self.selectors, breadcrumb):
            names = ", ".join(map(trigger_text, self.selectors))
            return (
                f"no context comes for {self.name!r} on a {breadcrumb.schema}: its profile has the triggers {names}; add it there"
            )
        if self.audience is not None and not self.audience.matches(breadcrumb):
            return (
                f"no context comes for {self.name!r}: the audience of its profile leaves this {breadcrumb.schema} out; "
                "send the tags that it names, or change it"
            )
        return ""


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", kind))


def read_result(kind: type[T], answer: Any) -> T:
    """JSON → dataclass. Raises `Unavailable` for what is none: another kind of service answered."""
    try:
        result: T = _adapter(cast("Hashable", kind)).validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise Unavailable(
            f"the answer of the service is no {kind.__name__}: {first['msg']} at {where}, got {shape(first['input'])}; "
            "install the client and the service in the same version"
        ) from error
    return result
