"""Recall: everything in scope as of a trigger's place, as each consumer may see it, before any choice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.profile import Profile
from builder.domain.recall import Scope, StoredBreadcrumb
from builder.domain.selector import Selector
from builder.language.words import Terms
from builder.recall.index.conversation import Turn, closed_turn
from builder.recall.index.reader import HistoryReader
from builder.recall.index.view import View
from builder.recall.questions import Questions, questions_of, without_later_triggers
from builder.recall.scopes import looks_for_person, memory_of, scope_of
from builder.recall.visibility import (
    BLACKLIST,
    OWN_BLACKLIST,
    RowsByKind,
    kinds_of,
    of_person,
    pinned_rows,
    schema_hints,
    system_prompt,
    unexpired,
    visible_to,
    without_expired,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRecall:
    """All that assembly needs but the search."""

    trigger: Breadcrumb
    profile: Profile
    view: View
    """As of the trigger's place, what the consumer may see; with the trigger in it when that is a tool's answer."""
    pinned: tuple[tuple[StoredBreadcrumb, ...], ...]
    """For each of the profile's kinds its rows, the newest first."""
    system_prompt: str
    terms: Terms
    """Text → stemmed terms joined by spaces."""
    scope: Scope
    """Where it was looked for."""
    questions: Questions = field(default_factory=Questions)
    """The messages that the page answers."""
    as_of: Place | None = None
    """The view ends here, after the trigger; None = at the trigger."""
    lacks_user: bool = False
    """The profile looks into the memory of a person whom nothing names."""
    turn: Turn = ()
    """The calls to answer from, when the trigger is a tool's answer."""
    consumers: frozenset[str] = frozenset()
    """Names of the consumers that profile files make: nobody else may be shown under them."""
    schema_hints: Mapping[str, str] = field(default_factory=dict)
    """Schema → the hints of its definition that the consumer trusts, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaller:
    """Recalls for consumers and for summaries. All methods raise `Unavailable`."""

    reader: HistoryReader
    terms: Terms
    exclusions: Callable[[Breadcrumb], tuple[Selector, ...]]
    """A blacklist → what it excludes."""

    async def recall(
        self,
        trigger: Breadcrumb,
        consumers: tuple[Profile, ...],
        names: frozenset[str] = frozenset(),
        as_of: Place | None = None,
    ) -> tuple[ConsumerRecall, ...]:
        """Reads each scope once. A consumer with unanswered calls gets no recall: the last result will trigger it.

        names: of other consumers. as_of: with what came up to there; None = up to the trigger.
        """
        until = as_of or trigger.place
        memory = await memory_of(self.reader.store, trigger) if looks_for_person(trigger, consumers) else None
        readings: dict[Scope, tuple[RowsByKind, View]] = {}
        recalls = []
        for profile in consumers:
            scope = scope_of(trigger, profile, memory)
            if scope not in readings:
                inclusive = trigger.role == "tool" or as_of is not None
                readings[scope] = await self._read(trigger.session, until, scope, consumers, inclusive=inclusive)
            recalls.append(self._for(trigger, profile, scope, *readings[scope], as_of))
        return tuple(replace(recall, consumers=names) for recall in recalls if recall is not None)

    async def session_view(self, workspace: str, session: str, until: Place) -> View:
        """The session up to and including a place, as a summariser sees it."""
        scope = self.reader.cache.scope_of_session(workspace, session)
        rows, view = await self._read(session, until, scope, (), inclusive=True)
        if not view.size:
            return view
        now = view.breadcrumb(view.size - 1).received_at
        return without_expired(view, self._excluded(unexpired(now, rows)), now)

    async def _read(
        self, session: str, until: Place, scope: Scope, consumers: tuple[Profile, ...], *, inclusive: bool
    ) -> tuple[RowsByKind, View]:
        kinds, searched = kinds_of(consumers), not consumers or any(profile.searches for profile in consumers)
        rows, view = await self.reader.read(session, until, scope, kinds, inclusive=inclusive, searched=searched)
        return dict(zip(kinds, rows, strict=True)), view

    def _for(
        self, trigger: Breadcrumb, profile: Profile, scope: Scope, rows: RowsByKind, view: View, as_of: Place | None
    ) -> ConsumerRecall | None:
        rows = unexpired(trigger.received_at, rows)
        view = visible_to(view, profile, trigger, self._excluded(rows))
        questions = questions_of(view, trigger, profile)
        if scope.user:
            rows_asked = (row for row in map(view.row_of, questions.ids) if row >= 0)  # the trigger itself is in no view
            is_of_person = all(view.breadcrumb(row).user_id == scope.user for row in rows_asked)
            view = of_person(view, scope.user if is_of_person else "")
        if as_of:
            trigger, view = _newest_version(view, trigger), without_later_triggers(view, trigger, profile)
        turn = closed_turn(view, view.history.breadcrumbs.versions[trigger.id][0]) if trigger.role == "tool" else ()
        if turn is None:
            return None
        return ConsumerRecall(
            trigger=trigger,
            profile=profile,
            view=view,
            pinned=pinned_rows(profile, rows),
            system_prompt=system_prompt(profile, rows),
            terms=self.terms,
            scope=scope,
            questions=questions,
            as_of=as_of,
            lacks_user=profile.retrieval.scope == "user" and not scope.user,
            turn=turn,
            schema_hints=schema_hints(profile, rows),
        )

    def _excluded(self, rows: RowsByKind) -> tuple[Selector, ...]:
        lists = {row.breadcrumb.id: row.breadcrumb for row in (*rows[BLACKLIST], *rows[OWN_BLACKLIST])}
        return tuple(selector for each in lists.values() for selector in self.exclusions(each))


def _newest_version(view: View, trigger: Breadcrumb) -> Breadcrumb:
    row = view.row_of(trigger.id)
    newest = view.breadcrumb(row) if row >= 0 and view.current[row] else trigger
    return replace(newest, session=trigger.session, place=trigger.place, received_at=trigger.received_at)
