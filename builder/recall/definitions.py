"""The records that define agents, as of a place."""

from builder.domain.breadcrumb import NO_SESSION, Place
from builder.domain.profile import DEFINING_SCHEMAS, MAX_DEFINITIONS, Definitions
from builder.domain.recall import RecallQuery, Scope
from builder.domain.selector import Pinned, Selector
from builder.ports.models import NO_MODEL
from builder.ports.store import BreadcrumbStore

_KINDS = tuple(Pinned(selector=Selector(schemas=(name,)), keep=MAX_DEFINITIONS, section="") for name in DEFINING_SCHEMAS)


async def definitions_as_of(store: BreadcrumbStore, workspace: str, until: Place) -> Definitions:
    """The newest version of each record of no session up to and including a place. Raises `Unavailable`.

    A participant of a session must not define an agent.
    """
    scope = Scope(workspace=workspace, sessions=(NO_SESSION,))
    query = RecallQuery(scope=scope, session=NO_SESSION, after=until, until=until, limit=1, pinned=_KINDS, model=NO_MODEL)
    recall = await store.recall(query)
    return tuple(row.breadcrumb for rows in recall.pinned for row in rows)
