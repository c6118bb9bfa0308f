"""Tool output in the forms that a profile wants: cut, shrunk, or one line (features B1 to B9). After dedup, before select.

Units keep their candidates and their order; only what is rendered of a result changes. Errors and messages are never touched.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from builder.domain.context import Compaction
from builder.domain.profile import Profile, ToolOutput
from builder.pipeline.draft import Draft
from builder.pipeline.select import Plan
from builder.pipeline.units import RESULT, Candidate, Form, Line, Unit

Change = Callable[[Candidate], Candidate]
Place = tuple[int, int]
"""Unit of the hot window, candidate in it."""


def fold(plan: Plan, profile: Profile, draft: Draft) -> tuple[Plan, Compaction | None]:
    """The plan with every result in its form, and what was folded to make room; None when nothing was.

    draft: the page before anything is chosen; it tells what a candidate costs on it.
    """
    rules = profile.tool_output
    plan = _cut(plan, rules)
    plan = _age(plan, rules, draft)
    if rules.newest_only:
        plan = _newest_only(plan)
    return _compact(plan, profile, draft)


def is_result(candidate: Candidate) -> bool:
    """Whether it is what a tool answered, and no error (features B7)."""
    crumb = candidate.remembered.breadcrumb
    return crumb.schema == RESULT and not crumb.failed


def _cut(plan: Plan, rules: ToolOutput) -> Plan:
    """Result lists are cut at once; outside the hot window the results of some tools shrink (features B1, B3, B4)."""

    def fresh(candidate: Candidate) -> Candidate:
        return replace(candidate, form=Form(cut=rules.per_tool.get(candidate.remembered.breadcrumb.tool, rules.cut)))

    def old(candidate: Candidate) -> Candidate:
        named = candidate.remembered.breadcrumb.tool in rules.old_tools
        candidate = fresh(candidate)
        return replace(candidate, form=replace(candidate.form, characters=rules.old_characters)) if named else candidate

    return replace(
        plan,
        trigger=_each((plan.trigger,), fresh)[0],
        standing=_each(plan.standing, fresh),
        hot=_each(plan.hot, fresh),
        retrieval=_each(plan.retrieval, old),
        neighbours=_each(plan.neighbours, old),
    )


def _each(units: tuple[Unit, ...], change: Change) -> tuple[Unit, ...]:
    return tuple(
        tuple(change(item) if is_result(item) else item for item in unit) if any(map(is_result, unit)) else unit for unit in units
    )


def _as_line(candidate: Candidate, line: Line) -> Candidate:
    return replace(candidate, spans=(), form=replace(candidate.form, line=line))


def _age(plan: Plan, rules: ToolOutput, draft: Draft) -> Plan:
    """Results of older tool turns of the hot window become placeholders, where those are shorter (features B5).

    What is found again stays: it is shown because it matters now.
    """
    if rules.placeholder_after is None:
        return plan
    units, turns = [], 0
    for unit in plan.hot:
        turns += any(item.remembered.breadcrumb.role == "tool" for item in unit)
        old = turns > rules.placeholder_after
        units.append(tuple(_shorter(item, "placeholder", draft) if old and is_result(item) else item for item in unit))
    return replace(plan, hot=tuple(units))


def _shorter(candidate: Candidate, line: Line, draft: Draft) -> Candidate:
    short = _as_line(candidate, line)
    return short if _tokens(short, draft) < _tokens(candidate, draft) else candidate


def _newest_only(plan: Plan) -> Plan:
    """Of several results for the same tool and arguments only the newest is shown in full (features B8)."""
    newest: dict[str, int] = {}
    asked: dict[int, str] = {}
    for unit in chain(plan.hot, plan.retrieval, plan.neighbours):
        for row, question in _answered(unit):
            asked[row] = question
            newest[question] = max(row, newest.get(question, row))

    def change(candidate: Candidate) -> Candidate:
        question = asked.get(candidate.row)
        outdated = question is not None and newest[question] > candidate.row
        return _as_line(candidate, "superseded") if outdated else candidate

    return replace(
        plan, hot=_each(plan.hot, change), retrieval=_each(plan.retrieval, change), neighbours=_each(plan.neighbours, change)
    )


def _answered(unit: Unit) -> Iterator[tuple[int, str]]:
    """Row of each result of the unit, and the tool and arguments it answers: those last asked under its request id."""
    if not any(map(is_result, unit)):
        return
    asked: dict[str, str] = {}
    for candidate in sorted(unit, key=lambda item: item.row):
        crumb = candidate.remembered.breadcrumb
        asked.update(zip(crumb.calls, crumb.asked, strict=False))
        if is_result(candidate):
            yield from ((candidate.row, asked[call]) for call in crumb.calls if call in asked)


def _compact(plan: Plan, profile: Profile, draft: Draft) -> tuple[Plan, Compaction | None]:
    """While the page would hold more than `fold_at` of its tokens, the oldest result is folded (features B6, B7)."""
    rules = profile.tool_output
    oldest_first = list(_foldable(plan.hot, rules.fold_keep))
    if rules.fold_at is None or not oldest_first:
        return plan, None
    limit = int(rules.fold_at * profile.allowance)
    original = held = _held(plan, profile, draft, limit)
    hot = [list(unit) for unit in plan.hot]
    folded: list[str] = []
    for unit, item in oldest_first:
        if held <= limit:
            break
        before = hot[unit][item]
        after = _as_line(before, "folded")
        saved = _tokens(before, draft) - _tokens(after, draft)
        if saved > 0:
            hot[unit][item] = after
            held -= saved
            folded.append(before.remembered.breadcrumb.id)
    if not folded:
        return plan, None
    return replace(plan, hot=tuple(map(tuple, hot))), Compaction(original=original, compacted=held, folded=tuple(folded))


def _foldable(hot: tuple[Unit, ...], keep: int) -> Iterator[Place]:
    """Results of the hot window, oldest first, those of the newest `keep` units left out."""
    for unit in range(len(hot) - 1, keep - 1, -1):
        for item, candidate in enumerate(hot[unit]):
            if is_result(candidate) and not candidate.form.line:
                yield unit, item


def _held(plan: Plan, profile: Profile, draft: Draft, limit: int) -> int:
    """Tokens of the page if everything that is planned had room; what stands and what is found at most up to its ceiling."""
    total = draft.total
    pools = {"pinned": plan.standing, "instructions": plan.instructions, "retrieval": plan.retrieval}
    for rule in profile.sections:
        mine = (*plan.trigger, *chain.from_iterable(plan.hot))
        tokens = sum(_tokens(item, draft) for item in mine if item.section == rule.name)
        most = min(rule.most(profile.allowance), limit)
        for unit in pools.get(rule.source, ()):
            tokens += sum(_tokens(item, draft) for item in unit if item.section == rule.name) if tokens < most else 0
        total += min(tokens, most) if rule.source in pools else tokens
        total += draft.heading(rule.name) if tokens else 0
    return total


def _tokens(candidate: Candidate, draft: Draft) -> int:
    """Of the fragment with its line end; nothing for what has no section here."""
    return draft.fragment(candidate, draft.allowance * 1_000).tokens if candidate.section in draft.rules else 0
