"""Lines of summaries that a page may show, as of a view."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.domain.summary import KeptLine, Summary
from builder.recall.index.view import View
from builder.recall.summaries.lines import EMPTY_PAGE, PageContent, shown_lines
from builder.recall.summaries.plan import free_lines, recipe_of


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
    chains = view.history.chains
    head = chains.newest_visible(view.session, recipe.name, view.prefix.latest, view.current, moved_at)
    if head < 0:
        return None
    lines = shown_lines(view, chains.lasting(head, view.current), free_lines(view, head), page)
    if not lines:
        return None
    return PageSummary(breadcrumb=view.breadcrumb(head), summary=chains.summary(head), lines=lines)


def memory_summaries(view: View, profile: Profile, sessions: int, page: PageContent = EMPTY_PAGE) -> Iterator[PageSummary]:
    """The newest summary of each of the person's other sessions, the newest first.

    sessions: the most that are looked at. page: what is shown of them already.
    """
    recipe = recipe_of(profile)
    if recipe is None or view.summaries is None or not view.summaries.any():
        return
    chains, latest = view.history.chains, view.prefix.latest
    codes = view.session_of[view.summaries]
    newest_first = list(dict.fromkeys(reversed(codes.tolist())))[:sessions]
    heads = (chains.newest_visible(code, recipe.name, latest, view.summaries, view.size) for code in newest_first)
    for head in heads:
        lines = shown_lines(view, chains.lasting(head, view.summaries), free_lines(view, head), page) if head >= 0 else ()
        if lines:
            yield PageSummary(breadcrumb=view.breadcrumb(head), summary=chains.summary(head), lines=lines)
