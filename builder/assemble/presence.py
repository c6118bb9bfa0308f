"""How much of a breadcrumb is on a page: all, a part, or its calls alone."""

from collections.abc import Iterator

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.writer import Item
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import NEUTRALISED, PASSAGES, Fragment, Omission
from builder.recall.index.links import ToolExchange
from builder.recall.index.view import View


def parts(ledger: Ledger) -> Iterator[Omission]:
    """Breadcrumbs that are on the page in part or changed."""
    view = ledger.writer.view
    for item in ledger.all_items():
        for fragment in item.fragments:
            for reason in reductions(fragment, item, view):
                is_reduced = bool(fragment.reduced or item.spans)
                row = view.row_of(fragment.breadcrumb.id) if is_reduced and not fragment.in_all else -1
                tokens = max(fragment.in_all, fragment.tokens, int(view.tokens[row]) if row >= 0 else 0)
                yield Omission(id=fragment.breadcrumb.id, reason=reason, tokens=tokens, tokens_shown=fragment.tokens)


def reductions(fragment: Fragment, item: Item, view: View) -> Iterator[str]:
    """Why not all of it is on the page as it came."""
    is_part = bool(item.spans) and fragment.breadcrumb.id == view.breadcrumb(item.origin).id
    yield from filter(None, (fragment.reduced or PASSAGES * is_part, fragment.failed, NEUTRALISED * fragment.neutralised))


def rows_of_calls(ledger: Ledger) -> frozenset[int]:
    """Rows without words whose calls are all on the page."""
    view, exchanges = ledger.writer.view, ledger.writer.view.history.exchanges
    calls: list[ToolExchange] = []
    for item in ledger.all_items():
        if item.entry and item.is_call:
            request = item.entry.request
            calls += (each for each in exchanges.of_caller.get(item.entry.row, ()) if each.request == request)
        if item.origin in exchanges.of_result:
            calls.append(exchanges.of_result[item.origin])
    present = {(exchange.origin, exchange.request) for exchange in calls}
    rows = ((row, view.breadcrumb(row)) for exchange in calls for row in exchange.callers if row < view.size)
    silent = {row for row, crumb in rows if is_silent(crumb)}
    return frozenset(
        row for row in silent if present.issuperset((each.origin, each.request) for each in exchanges.of_caller.get(row, ()))
    )


def is_silent(crumb: Breadcrumb) -> bool:
    """Whether it makes calls and says nothing."""
    return crumb.role == "tool" or not crumb.text.strip()
