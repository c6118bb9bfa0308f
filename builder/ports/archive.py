"""Deletion from the streams."""

from collections import Counter
from typing import NamedTuple, Protocol

from builder.domain.breadcrumb import Place


class Sighting(NamedTuple):
    """A published context that names some of the ids that were asked for."""

    sequence: int
    subject: str
    ids: frozenset[str]


EVERY_ID = ""
"""Counts what was deleted whatever its id."""


class Archive(Protocol):
    """Deletes from the streams, beyond recovery. All methods raise `Unavailable` and may be repeated.

    ids: of one workspace; session: theirs, NO_SESSION = any.
    """

    async def delete_breadcrumbs(self, workspace: str, session: str, ids: frozenset[str], until: Place) -> Counter[str]:
        """Delete every message of these breadcrumbs below the place; returns how many of each."""

    async def delete_at(self, place: Place, workspace: str, session: str, identity: str = "") -> bool:
        """Delete the message at this place; False when the stream no longer holds it, or holds another session's there.

        identity: only when the message is a record of this id.
        """

    async def delete_letters(
        self, workspace: str, session: str, ids: frozenset[str] | None, after: int = 0
    ) -> tuple[Counter[str], int]:
        """Delete the dead letters that are about them, and the messages that these name, from the sequence behind `after` on.

        Returns how many letters of each id, and the last sequence that was read. ids: None = all of the session, as `EVERY_ID`.
        """

    async def contexts_with(self, workspace: str, ids: frozenset[str], after: int = 0) -> tuple[tuple[Sighting, ...], int]:
        """The published contexts behind a sequence that name one of them, and the last sequence that was read."""

    async def replace_context(self, sequence: int, subject: str) -> int:
        """Delete the context, and put a stub in its place, so that no second one can follow. sequence: 0 = only the stub.

        Returns the sequence of the stub; 0 = one is there.
        """
