"""A request that the service answers: who sends it, what its row in the table says, and what its handler gets."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from builder.domain.breadcrumb import NO_SESSION, USER_MESSAGE, Breadcrumb
from builder.domain.errors import Forbidden

if TYPE_CHECKING:
    from pydantic import BaseModel

    from builder.domain.breadcrumb import Place
    from builder.domain.profile import Profile
    from builder.ports.contexts import Durables, PublishedContexts, Publisher
    from builder.service import ContextBuilder
    from builder.worker.consumers import Consumers
    from builder.worker.log import Log
    from builder.worker.replays import Replays
    from builder.worker.stream_erasers import LetterEraser
    from builder.worker.tombstones import Forgetting

Right = Literal["read", "write", "forget", "export"]
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


Ask = Callable[["BaseModel"], Awaitable[dict[str, Any]]]
"""Answers a request as for the whole workspace."""
JsonHandler = Callable[[str, bytes], Awaitable[dict[str, Any]]]
"""Workspace and JSON → the answer. Raises `Rejected` and `Unavailable`."""
Narrowing = Callable[[Any, Caller, Any, Ask], Awaitable[dict[str, Any]]]
"""The `AccessControl`, the sender, who is one user, and the request → as much of the answer as the sender may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What the running service lends to handlers."""

    log: "Log"
    """The messages as the stream has them, and the store."""
    consumers: "Consumers"
    replays: "Replays"
    """Contexts built again."""
    builder: Callable[[], "ContextBuilder"]
    """With the present profiles and templates."""
    profile: Callable[[str], "Profile"]
    """A profile or preset by its name. Raises `Rejected`."""
    contexts: "PublishedContexts"
    """Those of the last 24 hours."""
    publisher: "Publisher"
    durables: "Durables"
    forgetting: "Forgetting"
    letters: "LetterEraser"
    is_settled: Callable[["Place"], bool]
    """Whether no worker has the delivery of a position in work."""
    jobs: Mapping[str, Any] = field(default_factory=dict)
    """Name → `BackgroundJob` of an extra, for its requests."""


Handler = Callable[[Host, str, Any], Awaitable[Mapping[str, Any]]]
"""The service, the workspace and the request → the answer. Raises `BuilderError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, answered over NATS as `requests.{workspace}.{name}`."""

    model: "type[BaseModel]"
    """The first line of its docstring is the description."""
    answer: Any
    """A type that pydantic knows."""
    handler: Handler
    right: Right | None = None
    """That a token needs for it; None = only NATS has it."""
    has_route: bool = True
    """With a right it is `POST /v1/NAME`; False = it has a route of its own, or none."""
    narrowing: Narrowing | None = None
    """For a token of one user; None = such a token is refused."""
    title: str = ""
    description: str = ""
    """Of the route; the title is the first line of the model's docstring if there is none."""
    example: tuple[Any, Any] | None = None
    """A request's body and an answer."""

    async def ask(self, host: Host, workspace: str, content: "BaseModel") -> dict[str, Any]:
        """The answer. content: of the model. Raises `BuilderError`."""
        return dict(await self.handler(host, workspace, content))
