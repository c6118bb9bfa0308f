"""The conversation that does not fit: planned on numbers, rendered, and corrected by what was counted."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from builder.assemble.budget.ledger import Ledger, dialogue_rows
from builder.assemble.budget.limits import MIN_ROOM
from builder.assemble.budget.plan import part_of, plan
from builder.assemble.budget.purchases import Plan, Room
from builder.assemble.draft import PageDraft
from builder.assemble.items.forms import LINE_REASONS
from builder.assemble.items.list_items import HOLE
from builder.assemble.items.writer import Item
from builder.assemble.sources.choice import Choice, choice_of
from builder.assemble.sources.finds import news
from builder.assemble.sources.placement import FIND, Placement, is_elsewhere, placement
from builder.assemble.sources.results import RUNNING
from builder.assemble.sources.summary import put_summary, summary_tokens, with_observations
from builder.domain.context import IRRELEVANT, OLDER, OVER_BUDGET, Omission
from builder.domain.profile import Profile, SectionRule
from builder.language.follow_ups import is_follow_up
from builder.recall.index.conversation import Entry, outdated_results
from builder.recall.search.candidates import Find
from builder.recall.search.query import content_words
from builder.recall.search.retrieval import RetrievalResult, retrieve

MAX_PLANS = 3
"""The plans of a page, unless each was too long."""
LEFT_OVER = 0.01
"""A share of the room: a smaller rest is left free."""
SPARE = 0.1
"""A share of the page: where the best plan leaves more, its parts were dearer than counted."""
LEAST_SHARE = 0.14
"""Largest share of the page for the newest part where a profile does not fill its pages."""
BROADLY = 0.1
"""Share of the least price where the answer is in many messages: the fifth is needed as much as the first."""
NOTHING = Placement(conversation=(), apart=(), in_runs=())
DIALOGUE = "the conversation"


@dataclass(frozen=True, slots=True)
class _Purchase:
    free: int
    plan: Plan
    placement: Placement


def put_plan(draft: PageDraft, choice: Choice, excess: int) -> Plan:
    """Put on the page what is bought. excess: tokens by which the page was counted too long."""
    least = draft.recall.profile.least_price * (BROADLY if draft.is_broad else 1.0)
    purchases = _purchases(draft, choice, excess, least)
    best = min((each for each in purchases if each.free >= 0), key=lambda each: each.free, default=purchases[-1])
    if best is not purchases[-1]:
        _put(draft, best.placement, best.plan.summary)
    if least == 0:
        best = _filled(draft, choice, best, excess)
    draft.in_runs = best.placement.in_runs
    return best.plan


def _purchases(draft: PageDraft, choice: Choice, excess: int, least: float) -> list[_Purchase]:
    """A few plans, each for the room that the one before was counted to leave; the last one is on the page."""
    question, terms = draft.writer.question, draft.recall.terms
    follows = is_follow_up(question, terms) or not content_words(question, terms)
    room = allowance = float(max(_put(draft, NOTHING) - excess, 0))
    lines = summary_tokens(draft)
    purchases: list[_Purchase] = []
    most, fits, long = math.inf, (0.0, 0.0), (math.inf, math.inf)
    while len(purchases) < _plans(purchases, allowance):
        limits = _room(draft, room, allowance)
        limits = replace(limits, finds=min(limits.finds, most))
        bought = plan(choice.entries, choice.offers, limits, least, follows=follows, summary=lines)
        placed = placement(draft, choice, bought)
        free = _put(draft, placed, bought.summary) - excess
        above = _above(draft, excess) if bought.for_finds else 0
        if above:
            most = max(bought.for_finds - above, 0.0)  # each time a find less, at least
            continue
        purchases.append(_Purchase(free, bought, placed))
        is_enough = free >= 0 and (free < max(MIN_ROOM, LEFT_OVER * room) or not bought.lacks_room)
        if room <= 0 or is_enough:
            break
        if free > 0:
            fits = max(fits, (room, allowance - free))
        else:
            long = min(long, (bought.spent, allowance - free))
        if long[0] <= fits[0]:
            break
        room = max(_next_room(fits, long, allowance) - (free <= 0) * len(purchases), 0.0)
    return purchases


def _next_room(fits: tuple[float, float], long: tuple[float, float], allowance: float) -> float:
    """The room of the next plan. fits, long: room of a plan that was short enough, of one too long, and what each took."""
    (least, tokens), (most, too_much) = fits, long
    if math.isinf(most):
        return least + allowance - tokens
    room = least + (most - least) * (allowance - tokens) / (too_much - tokens)
    return room if least < room < most else (least + most) / 2


def _plans(purchases: Sequence[_Purchase], allowance: float) -> float:
    """Most plans: as many as it takes until one fits, and more where that leaves much of the page empty."""
    spare = min((each.free for each in purchases if each.free >= 0), default=math.inf)
    if math.isinf(spare):
        return math.inf
    return MAX_PLANS if spare < SPARE * allowance else 2 * MAX_PLANS


def _above(draft: PageDraft, excess: int) -> int:
    """Tokens by which a section of finds is longer than it may be, on a page that has room."""
    ledger, rule = draft.ledger, draft.rule("retrieval")
    if rule is None or ledger.is_one or ledger.remaining < excess:
        return 0
    return max(ledger.spent[rule.name] - rule.max_tokens(ledger.allowance), 0)


def _filled(draft: PageDraft, choice: Choice, best: _Purchase, excess: int) -> _Purchase:
    """With what is left for the newest message or result that is a part."""
    number, allowance = min(best.plan.caps, default=-1), best.plan.spent + best.free
    room = int(min(best.free, _room(draft, allowance, allowance).newest - best.plan.for_newest))
    if number < 0 or room < MIN_ROOM:
        return best
    entry = choice.order[number]
    size = sum(item.size for item in best.placement.conversation if item.entry == entry)
    finds = sum(choice.finds[find].tokens for find in best.plan.parts.get(number, ()))
    longer = replace(best.plan, caps=best.plan.caps | {number: size - finds + room})
    placed = placement(draft, choice, longer)
    free = _put(draft, placed, longer.summary) - excess
    if free >= 0:
        return _Purchase(free, longer, placed)
    _put(draft, best.placement, best.plan.summary)
    return best


def _room(draft: PageDraft, tokens: float, allowance: float) -> Room:
    """The room of the page. tokens: for all of it. allowance: tokens that the page has for it."""
    window, retrieval, profile = draft.rule("window"), draft.rule("retrieval"), draft.recall.profile
    newest, finds = _limit(window, retrieval, profile, allowance), _limit(retrieval, window, profile, allowance)
    if draft.ledger.is_one:
        newest = finds = math.inf  # its section has both
    if window and not profile.fill:
        newest = min(newest, max(window.min_share, LEAST_SHARE) * profile.allowance)
    newest, finds = (tokens if limit >= allowance else limit * min(tokens / allowance, 1.0) for limit in (newest, finds))
    return Room(page=tokens, newest=newest, finds=finds, part=part_of(allowance))


def _limit(rule: SectionRule | None, other: SectionRule | None, profile: Profile, allowance: float) -> float:
    """Tokens of the page's allowance for both that a section may spend and the other one need not have."""
    reserve = other.min_share * profile.allowance if other else 0.0
    return max(min(rule.max_tokens(profile.allowance), allowance - reserve), 0.0) if rule else 0.0


def choose(draft: PageDraft) -> Choice:
    """The offers: the conversation within the profile's limits, and the finds."""
    recall = draft.recall
    view, answered = recall.view, 0.0
    finds: Sequence[Find] = ()
    if recall.profile.searches and not draft.query.is_small_talk:
        outdated = outdated_results(view) if recall.profile.tool_output.newest_only else frozenset()
        instructions = {item.origin for item in draft.items("instructions") if not item.spans}
        page_rows = draft.whole_rows() | draft.active.outdated | outdated | instructions
        question = draft.questions[-1].row if draft.questions else -1
        rules, room, observations = recall.profile.retrieval, draft.ledger.remaining, draft.observations
        result = retrieve(draft.query, view, rules, draft.ranker, page_rows, room, recall.terms, question, observations.summaries)
        draft.retrieval = with_observations(result, observations, draft, page_rows)
        draft.omissions.add(LINE_REASONS["superseded"], outdated)
        finds = _within_limits(_findable(draft, page_rows), draft)
        answered = result.candidates.answered if result.candidates else 1.0
    return choice_of(draft, finds, answered)


def _findable(draft: PageDraft, page_rows: frozenset[int]) -> list[Find]:
    """The finds that say something new, have a section, and are no rule without what took it back."""
    recall = draft.recall
    apart = {row for entry in (*recall.turn, *draft.questions) for row in entry.results or (entry.row,)}
    has_section = draft.rule("retrieval") is not None
    finds = [
        find
        for find in news(_with_neighbours(draft.retrieval), draft)
        if find.row not in apart and (has_section or (draft.ledger.is_one and not is_elsewhere(draft, find.row)))
    ]
    there = page_rows.union(find.row for find in finds)
    alone = {row for permission, rows in draft.active.rules.items() if permission not in there for row in rows}
    return [find for find in finds if find.row not in alone]


def _with_neighbours(retrieval: RetrievalResult) -> list[Find]:
    """The finds, those that stand next to a better one with its row, and other neighbours."""
    neighbours = {(find.row, find.spans): find for find in retrieval.neighbours}
    finds: list[Find] = []
    for find in retrieval.finds:
        neighbour = neighbours.pop((find.row, find.spans), None)
        finds.append(replace(find, neighbour_of=neighbour.neighbour_of) if neighbour else find)
    return [*finds, *neighbours.values()]


def _within_limits(finds: Sequence[Find], draft: PageDraft) -> Sequence[Find]:
    limits, there = draft.recall.profile.retrieval.per_schema_limit, Counter[str]()
    within: list[Find] = []
    for find in finds:
        crumb = draft.recall.view.breadcrumb(find.row)
        limit = limits.get(crumb.schema, math.inf)
        there[crumb.schema] += 1
        if there[crumb.schema] <= limit:
            within.append(find)
        else:
            reason = f"beyond the {limit} most probable of {crumb.schema}"
            draft.omissions.name([Omission(id=crumb.id, reason=reason, tokens=find.tokens)])
    return within


def _put(draft: PageDraft, placed: Placement, summary: int = 0) -> int:
    """Put it into the sections, with so many tokens of a summary; returns the tokens that are left for what may be bought."""
    ledger = draft.ledger
    turn, window, elsewhere = draft.rule("turn"), draft.rule("window"), draft.rule("retrieval")
    if draft.whole:
        turn = window = None
    running, rest = list[Item](), list[Item]()
    for item in placed.conversation:
        (running if turn and _is_running(draft, item) else rest).append(item)
    if turn:
        triggering = [item for item in ledger.items.get(turn.name, ()) if item.entry in draft.recall.turn]
        ledger.put(turn.name, [*running, *triggering], RUNNING)
    if window:
        ledger.put(window.name, rest, DIALOGUE)
    if elsewhere:
        ledger.put(elsewhere.name, placed.apart, FIND)
    ledger.noted = frozenset(entry.row for entry in placed.in_runs)
    ledger.settle()
    put_summary(draft, summary)
    put_note(draft)
    return _free(ledger, (window,) if ledger.is_one else (window, elsewhere))


def _free(ledger: Ledger, sections: Iterable[SectionRule | None]) -> int:
    """Tokens that are left for what may be bought. sections: those whose limits act."""
    limits = [rule.max_tokens(ledger.allowance) - ledger.spent[rule.name] for rule in sections if rule]
    least = min(limits, default=ledger.remaining)
    return min(least, ledger.remaining) if ledger.is_one or least < 0 else ledger.remaining


def put_note(draft: PageDraft) -> None:
    """Say how many messages are missing: where the conversation stands by itself, above the finds."""
    sections = [rule for rule in (draft.rule("window"), draft.rule("retrieval")) if rule]
    above = sections[-1:] if draft.items("retrieval") and not draft.ledger.is_one else sections[:1]
    note = "" if draft.whole and not draft.limits.left_out else _missing(draft.ledger, sections)
    for rule in sections:
        draft.ledger.put_note(rule.name, note if rule in above else "")


def _missing(ledger: Ledger, sections: Sequence[SectionRule]) -> str:
    """How many messages are; in sections of two kinds not of how many, where no sign says where."""
    number, missing = len(ledger.units), len(ledger.gaps.missing)
    if not missing:
        return ""
    gaps = (gap for rule in sections for _, gap in ledger.with_gaps(rule.name, ledger.items.get(rule.name, ())))
    if not (ledger.is_one or HOLE in gaps):
        return ledger.gaps.earlier  # the same as long as the conversation begins with the same message
    name = "message_missing" if missing == 1 else "messages_missing"
    return ledger.writer.rendering.phrases(name, number=number, missing=missing)


def _is_running(draft: PageDraft, item: Item) -> bool:
    """Whether it belongs to the turn that is to be answered; a line on calls is there with the first of them."""
    crumb = item.first
    first = Entry(item.origin, draft.recall.view.row_of(crumb.id), crumb.calls[0] if crumb.calls else "")
    return draft.is_of_turn(item.entry or first)


def account(draft: PageDraft, choice: Choice, bought: Plan) -> None:
    """Say how probable the finds are that were bought, and why the rest is not on the page."""
    view, probabilities = draft.recall.view, draft.ledger.probabilities
    reason = OVER_BUDGET if bought.lacks_room else IRRELEVANT
    omissions: list[Omission] = []
    for number, (find, entry) in enumerate(zip(choice.finds, choice.offers.entry.tolist(), strict=True)):
        name, is_part = view.breadcrumb(find.row).id, number in bought.parts.get(entry, ())
        if is_part or (entry in bought.whole and entry >= bought.newest):
            probabilities[name] = min(probabilities.get(name, 0.0) + find.probability, 1.0)
        elif entry not in bought.whole:
            stands_for = find.row in draft.observations.by_row
            cause = "repeat" if choice.offers.copies.get(entry, entry) in bought.whole else reason
            omissions.append(Omission(id=name, reason=cause, tokens=find.tokens if stands_for else 0))
    draft.omissions.name((*omissions, *draft.retrieval.omissions))
    for why, candidates in ((reason, draft.retrieval.crowded), (IRRELEVANT, draft.retrieval.irrelevant)):
        draft.omissions.add(why, candidates.rows, candidates.scores)
    for entry, limit in draft.limits.left_out:
        draft.omissions.add(limit, entry.rows)
    if not draft.whole:
        draft.omissions.add(OLDER, dialogue_rows(view))
