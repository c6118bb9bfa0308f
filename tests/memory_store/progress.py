"""What a worker notes beside the breadcrumbs, in dictionaries."""

from typing_extensions import override

from builder.domain.breadcrumb import ORIGIN, Place
from builder.ports.store import PendingStubs, Progress


class MemoryProgress(PendingStubs, Progress):
    """Watermarks, attempts and pending stubs."""

    def __init__(self) -> None:
        super().__init__()
        self._watermarks: dict[tuple[str, str], Place] = {}
        self._attempts: dict[Place, int] = {}
        self._stubs: set[str] = set()

    @override
    async def add_stub(self, subject: str) -> None:
        self._stubs.add(subject)

    @override
    async def pending_stubs(self) -> tuple[str, ...]:
        return tuple(sorted(self._stubs))

    @override
    async def remove_stub(self, subject: str) -> None:
        self._stubs.discard(subject)

    @override
    async def watermark(self, workspace: str, session: str) -> Place:
        return self._watermarks.get((workspace, session), ORIGIN)

    @override
    async def advance(self, workspace: str, session: str, place: Place) -> None:
        self._watermarks[workspace, session] = max(place, await self.watermark(workspace, session))

    @override
    async def start_attempt(self, place: Place) -> int:
        self._attempts[place] = self._attempts.get(place, 0) + 1
        return self._attempts[place]

    @override
    async def undo_attempt(self, place: Place) -> None:
        if place in self._attempts:
            self._attempts[place] = max(self._attempts[place] - 1, 0)

    @override
    async def clear_attempts(self, place: Place) -> None:
        self._attempts.pop(place, None)

    async def count_outdated(self) -> int:
        """All of it was computed by this release."""
        return 0
