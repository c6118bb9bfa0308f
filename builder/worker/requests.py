"""A request that the service answers: who sends it, what its row in the table says, and what its handler gets."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from builder.domain.breadcrumb import NO_SESSION, USER_MESSAGE, Breadcrumb
from builder.domain.errors import Forbidden

if TYPE_CHECKING:
    from pydantic import BaseModel

    from builder.worker.log import StoredLog
    from builder.worker.replays import Replays

Right = Literal["read", "write", "forget", "export"]
RIGHTS: Mapping[str, Right] = MappingProxyType(
    {
        "compact": "write",
        "consumers": "read",
        "context": "read",
        "fetch": "read",
        "forget": "forget",
        "history": "read",
        "search": "read",
        "sessions": "read",
    }
)
"""Verb → the right that it needs. Doors with rights offer no others but those of extras."""
NOTE = "note.v1"
OF_A_PERSON = frozenset({USER_MESSAGE, NOTE})
"""Schemas that a person writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request, as a door knows it."""

    name: str
    workspace: str
    user: str = ""
    """The only person that it sees and writes for; "" = everybody."""
    rights: frozenset[Right]

    def need(self, right: Right) -> None:
        """Raises `Forbidden`."""
        if right not in self.rights:
            raise Forbidden(
                f"this token has the rights {', '.join(sorted(self.rights))}, and this needs {right}; use another token"
            )

    def may_see(self, crumb: Breadcrumb) -> bool:
        """Of a breadcrumb in a session that it may read, or in none."""
        return self.sees(crumb.schema, crumb.session, crumb.user_id, is_own=crumb.session != NO_SESSION)

    def sees(self, schema: str, session: str, user: str, *, is_own: bool) -> bool:
        """Whether a breadcrumb is shown. user: its `user_id`. is_own: of its session."""
        is_note = schema == NOTE and session == NO_SESSION
        return not self.user or user == self.user or is_note or (is_own and not user)


Answer = Mapping[str, Any]
Ask = Callable[["BaseModel"], Awaitable[dict[str, Any]]]
"""Answers a request as for the whole workspace."""


class Access(Protocol):
    """Who may see what. Methods raise `Rejected` and `Unavailable`."""

    async def answer(self, caller: Caller, verb: str, data: bytes) -> dict[str, Any]:
        """Another request, as far as the sender may see its answer. data: JSON."""


Narrowing = Callable[[Access, Caller, Any, Ask], Awaitable[dict[str, Any]]]
"""The sender, who is one user, and the request → as much of the answer as the sender may see. Raises `BuilderError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What the running service lends to handlers."""

    log: "StoredLog"
    """The messages as the stream has them, and the store."""
    replays: "Replays"
    """Contexts built again."""


Handler = Callable[[Host, str, Any], Awaitable[Answer]]
"""The service, the workspace and the request → the answer. Raises `BuilderError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, answered over NATS as `requests.{workspace}.{name}`."""

    model: "type[BaseModel]"
    """The first line of its docstring is the description."""
    answer: Any
    """A type that pydantic knows."""
    handler: Handler
    """Its docstring describes the HTTP route."""
    right: Right | None = None
    """Over HTTP it is `POST /v1/NAME` for tokens with this right; None = only NATS has it."""
    narrowing: Narrowing | None = None
    """For a token of one user; None = such a token is refused."""
    title: str = ""
    """Over HTTP, in place of the description."""
    example: tuple[Any, Any] | None = None
    """A request's body and an answer."""
