"""Contexts that are built again: what they are, and who builds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from builder.assemble.assemble import AssembledPage
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.wire.requests import BuiltContext, ReplayRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A context that was built again."""

    trigger: Breadcrumb
    context: Context
    assembly: AssembledPage
    event: bytes
    published: bytes | None
    """None = not kept, or erased."""
    notes: tuple[str, ...]
    """For the reader, e.g. why the bytes differ."""
    profile: Profile
    times: Mapping[str, int]
    """Milliseconds per part of the delivery; empty = not kept."""

    @property
    def is_same(self) -> bool | None:
        """Equal to the published event; None = not kept, or refreshed."""
        return None if self.published is None or self.context.as_of else self.published == self.event


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A context that was built again, and the event that other files or another profile make in its place."""

    replay: Replay
    event: bytes
    failures: tuple[str, ...]
    """A line per template that failed."""


class Replays(Protocol):
    """Builds contexts again. All methods raise `Rejected` and `Unavailable`."""

    async def replay(self, workspace: str, request: BuiltContext) -> Replay:
        """As it was published, as far as its sources exist."""

    async def vary(self, workspace: str, request: ReplayRequest) -> Variation:
        """With the profile and the files of the request. Raises `Unavailable` while too many wait."""

    async def is_published(self, other: Breadcrumb, trigger: str, consumer: str) -> bool:
        """Whether another trigger's context in the session is kept."""
