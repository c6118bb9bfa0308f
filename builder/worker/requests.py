"""The parts of the running service that handlers of requests use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from builder.domain.json_values import JsonObject

if TYPE_CHECKING:
    from builder.domain.breadcrumb import Place
    from builder.domain.profile import Profile
    from builder.ports.contexts import Durables, PublishedContexts, Publisher
    from builder.service import ContextBuilder
    from builder.worker.consumers import Consumers
    from builder.worker.log import Log
    from builder.worker.replays import Replays
    from builder.worker.stream_erasers import LetterEraser
    from builder.worker.tombstones import Forgetting

JsonHandler = Callable[[str, bytes], Awaitable[JsonObject]]
"""Workspace and JSON → the answer. Raises `Rejected` and `Unavailable`."""


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
