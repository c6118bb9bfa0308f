"""The session of a page as a strip: how much of each breadcrumb is on the page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from builder.assemble.assemble import AssembledPage
from builder.assemble.items.forms import LINE_ONLY
from builder.assemble.items.writer import Item
from builder.assemble.presence import is_silent, reductions, rows_of_calls
from builder.domain.context import CUT, PASSAGES, Fragment
from builder.domain.profile import SectionRule
from builder.extras.explain.cells import Cell, State, Strip
from builder.extras.explain.page_parts import is_find

STRONGEST: tuple[State, ...] = ("found", "part", "whole", "line")


def strip_of(assembly: AssembledPage, most: int) -> Strip:
    """The newest `most` cells; the trigger is the last."""
    view, trigger = assembly.draft.recall.view, assembly.draft.recall.trigger
    states, tokens = _on_page(assembly)
    rows = [row for row in view.rows.tolist() if view.current[row]]
    cells = [_cell(view.breadcrumb(row).id, int(view.tokens[row]), states, tokens) for row in rows[-most:]]
    if view.row_of(trigger.id) < 0:
        cells.append(_cell(trigger.id, tokens[trigger.id], states, tokens))
    earlier = len(rows) - min(len(rows), most) + max(len(cells) - most, 0)
    return Strip(cells=tuple(cells[-most:]), earlier=earlier)


def _cell(identity: str, tokens: int, states: dict[str, State], on_page: dict[str, int]) -> Cell:
    return Cell(id=identity, state=states.get(identity, "not"), tokens=tokens, tokens_shown=on_page.get(identity, 0))


def _on_page(assembly: AssembledPage) -> tuple[dict[str, State], dict[str, int]]:
    """Id → state and tokens, of what the page shows or stands for."""
    seen, tokens = defaultdict[str, set[State]](set), defaultdict[str, int](int)
    for rule, item, fragment in _fragments(assembly):
        seen[fragment.breadcrumb.id].add(_state(assembly, rule, item, fragment))
        tokens[fragment.breadcrumb.id] += fragment.tokens
    states: dict[str, State] = {identity: _together(each) for identity, each in seen.items()}
    rest: tuple[tuple[State, Iterable[int]], ...] = (
        ("line", _in_lines(assembly)), ("whole", rows_of_calls(assembly.draft.ledger)),
    )  # fmt: skip
    for state, rows in rest:
        for row in rows:
            states.setdefault(assembly.draft.recall.view.breadcrumb(row).id, state)
    return states, tokens


def _in_lines(assembly: AssembledPage) -> Iterator[int]:
    """Rows that a summary has word for word, and calls with their results that one line stands for."""
    view, draft = assembly.draft.recall.view, assembly.draft
    yield from draft.verbatim
    for row in (row for entry in draft.in_runs for row in (entry.row, *entry.results)):
        yield row
        exchange = view.history.exchanges.of_result.get(row)
        callers = (each for each in (exchange.callers if exchange else ()) if each < view.size)
        yield from (each for each in callers if is_silent(view.breadcrumb(each)))


def _fragments(assembly: AssembledPage) -> Iterator[tuple[SectionRule, Item, Fragment]]:
    ledger = assembly.draft.ledger
    for name, rule in ledger.rules.items():
        for item in ledger.items.get(name, ()):
            for fragment in item.fragments:
                yield rule, item, fragment


def _state(assembly: AssembledPage, rule: SectionRule, item: Item, fragment: Fragment) -> State:
    reasons = {*reductions(fragment, item, assembly.draft.recall.view)}
    if reasons & LINE_ONLY:
        return "line"
    if is_find(rule, item):
        return "found"
    return "part" if fragment.reduced or reasons & {CUT, PASSAGES} else "whole"


def _together(states: set[State]) -> State:
    """The state of a breadcrumb with several fragments: a line on its calls takes nothing from its words."""
    return next(state for state in STRONGEST if state in states)
