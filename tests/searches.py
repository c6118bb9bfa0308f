"""Searches among older messages, by hand-set weights."""

from collections.abc import Iterable
from dataclasses import dataclass

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.view import View
from builder.recall.search.candidates import Find
from builder.recall.search.query import Query
from builder.recall.search.retrieval import RetrievalResult, retrieve
from tests.factories import BY_HAND, make_profile, make_query, make_terms, make_view

BLAND = [f"Weather report number {n}." for n in range(10)]


@dataclass(frozen=True)
class Search:
    """What was found, and where."""

    view: View
    found: RetrievalResult

    def crumbs(self, finds: tuple[Find, ...]) -> list[Breadcrumb]:
        """Of each find its breadcrumb."""
        return [self.view.breadcrumb(each.row) for each in finds]


def find(question: str, rows: Iterable[StoredBreadcrumb | str], *shown: int, **rules: object) -> Search:
    asked = make_query(question)
    return searched(asked, rows, *shown, **rules)


def searched(asked: Query, rows: Iterable[StoredBreadcrumb | str], *shown: int, **rules: object) -> Search:
    profile = make_profile(retrieval={"min_probability": None, "similarity_threshold": 0} | rules)
    view, hidden = make_view(rows), frozenset(shown)
    return Search(view, retrieve(asked, view, profile.retrieval, BY_HAND, hidden, profile.allowance, make_terms))


def best(search: Search) -> list[str]:
    return [crumb.id for crumb in search.crumbs(search.found.finds)]
