"""The SQL of a scope: where its rows stand."""

from dataclasses import replace

import apsw

from builder.adapters.sqlite import people, sessionless
from builder.domain.breadcrumb import Place
from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope, StoredBreadcrumb


def source(sql: apsw.Connection, query: RecallQuery) -> tuple[dict[str, str], tuple[str, ...], people.Memory]:
    """Where the rows of a query stand and what is read of passages, with the values, and the sessions of its scope."""
    facts = "terms, vector" if query.searched else "'', x''"
    if not query.scope.user:
        scope, values = condition(query.scope)
        memory = people.Memory(dict.fromkeys(query.scope.sessions, query.after))
        return {"source": "breadcrumbs", "scope": scope, "facts": facts}, values, memory
    memory = people.memory(sql, query)
    values = (memory.parameter, query.scope.workspace)
    return {"source": people.SOURCE, "scope": "workspace = ?", "facts": facts}, values, memory


def by_order(row: StoredBreadcrumb) -> tuple[tuple[Place, int], Place, str]:
    """To sort the rows of a recall."""
    return row.order, row.breadcrumb.place, row.breadcrumb.session


def revised_with(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """Of the sessions whose revisions are the scope's. A session may leave a person's scope, so the whole workspace counts."""
    return condition(replace(scope, sessions=(EVERY_SESSION,)) if scope.user else sessionless.with_shared(scope))


def condition(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """The condition and its values."""
    if scope.sessions == (EVERY_SESSION,):
        return "workspace = ?", (scope.workspace,)
    return f"workspace = ? AND session IN ({', '.join('?' * len(scope.sessions))})", (scope.workspace, *scope.sessions)
