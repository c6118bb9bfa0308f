"""Remember: a breadcrumb is stored with its facts, once."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.ports.store import BreadcrumbStore
from builder.remember.ingest import Ingest
from builder.wire.json import canonical_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Idempotent on (workspace, id, version): the first one stands, with its place and age."""

    store: BreadcrumbStore
    ingest: Ingest

    async def remember(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """Store the breadcrumb with its facts, or return what is stored under its id and version.

        Raises `Rejected` when that is a breadcrumb of another session or with other content, and `Unavailable`.
        """
        stored = await self.store.facts(breadcrumb)
        if stored is None:
            stored = await self.ingest.facts(breadcrumb)
            await self.store.remember(stored)
        else:
            _check_identity(stored.breadcrumb, breadcrumb)
        return stored


def _check_identity(stored: Breadcrumb, breadcrumb: Breadcrumb) -> None:
    if stored.session != breadcrumb.session:
        raise Rejected(
            f"id {breadcrumb.id!r} version {breadcrumb.version} belongs to session {stored.session!r} of this "
            "workspace; give every breadcrumb of a workspace an id of its own"
        )
    if _differs(stored, breadcrumb):
        raise Rejected(
            f"id {breadcrumb.id!r} version {breadcrumb.version} is taken: the breadcrumb that came first has other "
            "content; publish the next version, or take another id"
        )


def _differs(stored: Breadcrumb, breadcrumb: Breadcrumb) -> bool:
    """Whether the content differs. Two workers may word one summary differently; a removal has the id of what it removes."""
    if stored.place == breadcrumb.place or breadcrumb.schema == SUMMARY or breadcrumb.id in (stored.removes, breadcrumb.removes):
        return False
    return stored.schema != breadcrumb.schema or canonical_text(stored.body) != canonical_text(breadcrumb.body)
