"""Spend the budget on units: what cannot be dropped, then every section's floor, then up to its ceiling."""

from dataclasses import dataclass

from builder.domain.context import OVER_BUDGET, Omission
from builder.domain.errors import Rejected
from builder.domain.profile import Profile, SectionRule, Source
from builder.pipeline.caps import SMALLEST, fair_tools, hot_caps
from builder.pipeline.draft import Draft
from builder.pipeline.units import Candidate, Unit

SMALLEST_SUMMARY = 100
"""Tokens below which a shortened summary says nothing of a long session."""
SMALLEST_FRAGMENT = 5
"""Tokens of the shortest line, "User: yes": with less room left nobody is offered any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What asks for a place, each in its order of preference: hot newest first, instructions and retrieval best first."""

    trigger: Unit
    hot: tuple[Unit, ...]
    standing: tuple[Unit, ...]
    summary: tuple[Unit, ...]
    instructions: tuple[Unit, ...]
    retrieval: tuple[Unit, ...]
    neighbours: tuple[Unit, ...]


def select(plan: Plan, profile: Profile, draft: Draft, note: str = "") -> tuple[Omission, ...]:
    """Fill the draft; returns what did not get in, the most relevant first. note: what the section of tool output says first.

    Raises `Rejected` when the current message does not fit even shortened.
    """
    _pin_trigger(plan.trigger, profile, draft)
    pinned = _pin_recent(plan.hot[: profile.window.min_recent], profile, draft)
    if note and (tools := profile.section("tools")):
        draft.note(tools.name, note)
    queues = _queues(plan, plan.hot[pinned:], profile, draft)
    for queue in queues:
        _fill(queue, _first_limit(queue, queues, draft), profile, draft)
    for queue, limit in _shares(queues, draft):
        _fill(queue, limit, profile, draft)
    for queue in queues:
        _fill(queue, queue.rule.most(draft.allowance), profile, draft)
    _recall_instructions(plan, profile, draft)
    if not any(queue.waiting for queue in queues if queue.rule.source == "retrieval"):
        _fill_late(plan.neighbours, "retrieval", profile, draft)
    missed = [candidate for queue in queues for unit in queue.waiting for candidate in unit]
    return tuple(_omit(candidate, OVER_BUDGET) for candidate in missed)


@dataclass(slots=True)
class _Queue:
    """What still waits for a section. quota: units per schema that may yet get in; a schema without one is free."""

    rule: SectionRule
    waiting: list[Unit]
    quota: dict[str, int]


def _queues(plan: Plan, hot: tuple[Unit, ...], profile: Profile, draft: Draft) -> list[_Queue]:
    in_window = _rows(plan.hot)
    told = tuple(unit for unit in plan.instructions if not _rows((unit,)) & in_window)
    waiting = {"hot": hot, "pinned": plan.standing, "summary": plan.summary, "instructions": told, "retrieval": plan.retrieval}
    return [
        _Queue(rule, units, _quota(rule, units, profile, draft))
        for rule in sorted(profile.sections, key=lambda rule: rule.priority)
        if (units := [unit for unit in waiting.get(rule.source, ()) if rule.source != "pinned" or unit[0].section == rule.name])
    ]


def _quota(rule: SectionRule, units: list[Unit], profile: Profile, draft: Draft) -> dict[str, int]:
    """Units allowed per schema while not everything found would fit (features D5); no quota otherwise."""
    wanted = sum(passage.tokens for unit in units for candidate in unit for passage in candidate.remembered.passages)
    tight = rule.source == "retrieval" and wanted > rule.most(draft.allowance)
    return dict(profile.retrieval.per_schema_limit) if tight else {}


def _pin_trigger(unit: Unit, profile: Profile, draft: Draft) -> None:
    """The current message is never dropped."""
    rule = next(rule for rule in profile.sections if rule.source == "trigger")
    if not any(draft.offer(unit, {}, {rule.name: cap}) for cap in (rule.most(draft.allowance), draft.allowance // 2)):
        raise Rejected(
            f"the budget of {draft.allowance} tokens is too small for the current message and its heading; "
            f"raise `budget` in the profile {profile.consumer!r}"
        )


def _pin_recent(units: tuple[Unit, ...], profile: Profile, draft: Draft) -> int:
    """Put the newest units on the page, newest first; returns how many had room. The others wait like the rest."""
    for done, unit in enumerate(units):
        if not draft.offer(unit, {}, hot_caps(unit, profile, draft)):
            return done
    return len(units)


def _recall_instructions(plan: Plan, profile: Profile, draft: Draft) -> None:
    """An instruction is told by the hot window as long as its message is there; when it found no room, its sentence is shown."""
    in_window = _rows(plan.hot)
    late = tuple(unit for unit in plan.instructions if _rows((unit,)) & in_window)
    _fill_late(late, "instructions", profile, draft)


def _fill_late(units: tuple[Unit, ...], source: Source, profile: Profile, draft: Draft) -> None:
    """What may have a place only once everything else has its own."""
    for rule in profile.sections:
        if rule.source == source:
            _fill(_Queue(rule, list(units), {}), rule.most(draft.allowance), profile, draft)


def _rows(units: tuple[Unit, ...]) -> frozenset[int]:
    return frozenset(candidate.row for unit in units for candidate in unit)


def _first_limit(queue: _Queue, queues: list[_Queue], draft: Draft) -> int:
    """The section's floor; for what stands, which cannot grow later, all of its ceiling that the others' floors leave.

    One that asks for a share gets its floor first, like everybody else.
    """
    floor, ceiling = int(queue.rule.min_share * draft.allowance), queue.rule.most(draft.allowance)
    if queue.rule.source != "pinned" or queue.rule.weight:
        return floor
    owed = sum(
        max(int(other.rule.min_share * draft.allowance) - draft.spent[other.rule.name], 0)
        for other in queues
        if other is not queue
    )
    return min(max(draft.spent[queue.rule.name] + draft.allowance - draft.total - owed, floor), ceiling)


def _shares(queues: list[_Queue], draft: Draft) -> list[tuple[_Queue, int]]:
    """What each section that wants a share of the spare tokens may have in the end; its ceiling holds (features C6)."""
    spare, wanted = draft.allowance - draft.total, sum(queue.rule.weight for queue in queues)
    limits = []
    for queue in queues:
        if queue.rule.weight:
            limit = draft.spent[queue.rule.name] + int(spare * queue.rule.weight / wanted)
            limits.append((queue, min(limit, queue.rule.most(draft.allowance))))
    return limits


def _fill(queue: _Queue, limit: int, profile: Profile, draft: Draft) -> None:
    """Offer units until the limit: the conversation gets no holes, retrieval goes on to what still fits."""
    left: list[Unit] = []
    for number, unit in enumerate(queue.waiting):
        if min(limit - draft.spent[queue.rule.name], draft.allowance - draft.total) < SMALLEST_FRAGMENT:
            left += queue.waiting[number:]
            break
        schema = unit[-1].remembered.breadcrumb.schema
        caps = _caps(unit, queue.rule, limit, profile, draft)
        if queue.quota.get(schema, 1) > 0 and draft.offer(unit, {queue.rule.name: limit}, caps):
            if schema in queue.quota:
                queue.quota[schema] -= 1
            continue
        left.append(unit)
        if queue.rule.source == "hot":
            left += queue.waiting[number + 1 :]
            break
    queue.waiting = left


def _caps(unit: Unit, rule: SectionRule, limit: int, profile: Profile, draft: Draft) -> dict[str, int]:
    if rule.source == "summary" and rule.most(draft.allowance) < SMALLEST_SUMMARY:
        return {rule.name: 0}
    if rule.source in {"pinned", "summary"}:
        room = min(limit - draft.spent[rule.name], draft.allowance - draft.total)
        return {rule.name: max(room - draft.heading(rule.name), 0)}
    if rule.source == "instructions":
        return {}  # half an instruction may say the opposite
    if rule.source == "hot":
        return hot_caps(unit, profile, draft)
    cap = rule.most(draft.allowance) // 2  # of the ceiling in both rounds: what is shortened never grows back
    return {rule.name: max(cap, SMALLEST), **fair_tools(unit, profile, draft)}


def _omit(candidate: Candidate, reason: str) -> Omission:
    tokens = sum(passage.tokens for passage in candidate.remembered.passages)
    return Omission(id=candidate.remembered.breadcrumb.id, reason=reason, tokens=tokens)
