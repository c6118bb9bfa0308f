"""Lines of summaries that a page may show, as of a view."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.summary import KeptLine, Summary
from builder.recall.index.breadcrumb_table import Rows
from builder.recall.index.view import View
from builder.recall.summaries.lines import EMPTY_PAGE, PageContent, shown_lines
from builder.recall.summaries.recipes import recipe_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """The summary of a page."""

    breadcrumb: Breadcrumb
    summary: Summary
    lines: tuple[KeptLine, ...]
    """All that it may show, in place order."""

    def with_lines(self, lines: Iterable[KeptLine]) -> Breadcrumb:
        """The breadcrumb with these lines only."""
        body = replace(self.summary, lines=tuple(lines)).body()
        return replace(self.breadcrumb, body=json.dumps(body, ensure_ascii=False))


def page_summary(view: View, profile: Profile, page: PageContent, moved_at: int) -> PageSummary | None:
    """The newest summary that the consumer may see, without what the page shows; None when no line is left.

    moved_at: row with which the beginning of the conversation on the page last moved; the summary changes only then.
    """
    recipe = recipe_of(profile)
    if recipe is None:
        return None
    chains, visible = view.history.chains, view.current
    return _summary_of(
        view, chains.newest_visible(view.session, recipe.name, view.prefix.latest, visible, moved_at), visible, page
    )


def memory_summaries(view: View, profile: Profile, sessions: int, page: PageContent = EMPTY_PAGE) -> Iterator[PageSummary]:
    """The newest summary of each of the person's other sessions, the newest first.

    sessions: the most that are looked at. page: what is shown of them already.
    """
    recipe, visible = recipe_of(profile), view.summaries
    if recipe is None or visible is None or not visible.any():
        return
    newest_first = list(dict.fromkeys(reversed(view.session_of[visible].tolist())))[:sessions]
    for code in newest_first:
        head = view.history.chains.newest_visible(code, recipe.name, view.prefix.latest, visible, view.size)
        if summary := _summary_of(view, head, visible, page):
            yield summary


def _summary_of(view: View, head: int, visible: Rows, page: PageContent) -> PageSummary | None:
    """head: row of the newest summary of a chain, -1 = none. visible: rows of summaries whose lines count, shape (size,)."""
    chains = view.history.chains
    lines = shown_lines(view, chains.lasting(head, visible), chains.free(head), page) if head >= 0 else ()
    return PageSummary(breadcrumb=view.breadcrumb(head), summary=chains.summary(head), lines=lines) if lines else None
