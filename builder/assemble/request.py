"""What assembly is asked: one question of one consumer."""

from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.conversation import Turn
from builder.recall.index.view import Terms, View
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that assembly needs to know but what is searched for, which only finds depend on.

    pinned: for each of the profile's kinds, what was recalled, newest first.
    system_prompt: the profile's own, or its agent definition's. terms: text → stemmed terms.
    turn: the calls to answer from when the trigger is a tool's answer; then the view holds the trigger too.
    """

    trigger: Breadcrumb
    view: View
    pinned: tuple[tuple[StoredBreadcrumb, ...], ...]
    system_prompt: str
    profile: Profile
    terms: Terms
    turn: Turn = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for, and how. model: engine of the vectors."""

    query: Query
    ranker: Ranker
    model: str
