"""The conversation that does not fit: planned on numbers, rendered, and corrected by what was counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from builder.assemble.budget.ledger import dialogue_rows
from builder.assemble.budget.plan import part_of, plan
from builder.assemble.budget.purchases import Plan
from builder.assemble.budget.shares import Shares
from builder.assemble.draft import PageDraft, limited
from builder.assemble.items.rendering import LINE_REASONS, each
from builder.assemble.items.writer import Item
from builder.assemble.sources.choice import Choice, choice_of
from builder.assemble.sources.conversation import evenly
from builder.assemble.sources.finds import news
from builder.assemble.sources.placement import FIND, Placement, is_elsewhere, placement
from builder.assemble.sources.summary import with_observations
from builder.domain.context import IRRELEVANT, OLDER, OVER_BUDGET, Omission
from builder.language.sentences import is_follow_up
from builder.language.words import has_word
from builder.recall.index.conversation import outdated_results
from builder.recall.search.candidates import Find
from builder.recall.search.query import content_words
from builder.recall.search.retrieval import retrieve

MAX_PLANS = 3
"""Of a page, unless each was too long."""
SHORT_TOKENS, LEFT_OVER = 16, 0.01
"""Of what is free, and of the room: less fills nothing."""
BROADLY = 0.1
"""Of the least price, where the answer is in many messages: the fifth is needed as much as the first."""
NOTHING = Placement(conversation=(), elsewhere=(), in_runs=())
DIALOGUE, RUNNING = "the conversation", "the running turn"


def put_results(draft: PageDraft, shares: Shares) -> None:
    """Put the results that triggered on the page: whole where they have room."""
    rest = draft.rest - SHORT_TOKENS
    fits = sum(item.size for item in _triggering(draft)) <= rest
    _put_results(draft, rest if fits else shares.results(rest), rest)


def complete_results(draft: PageDraft) -> None:
    """Give results that triggered and were cut the room that is left."""
    there = [item for item in draft.items("turn") if item.entry in draft.recall.turn]
    if draft.ledger.remaining >= SHORT_TOKENS and (any(item.is_cut for item in there) or len(there) < len(draft.recall.turn)):
        room = draft.ledger.remaining + sum(item.size for item in there)
        _put_results(draft, room, room)


def _triggering(draft: PageDraft) -> list[Item]:
    return [*each(partial(limited, entry, draft.limits, draft.writer) for entry in reversed(draft.recall.turn))]


def _put_results(draft: PageDraft, room: int, most: int) -> None:
    rule = draft.rule("turn")
    if rule is None or not draft.recall.turn:
        return
    placed = evenly(draft, _triggering(draft), room, most)
    others = [item for item in draft.items("turn") if item.entry not in draft.recall.turn]
    items = [placed[entry] for entry in draft.recall.turn if entry in placed]
    draft.ledger.put(rule.name, [*others, *items], RUNNING)


@dataclass(frozen=True, slots=True)
class _Purchase:
    free: int
    plan: Plan
    placement: Placement


def put_plan(draft: PageDraft, choice: Choice, excess: int) -> Plan:
    """Put on the page what is bought. excess: tokens by which the page was counted too long."""
    question, terms = draft.writer.question, draft.recall.terms
    follows = is_follow_up(question, terms) or not content_words(question, terms)
    least = draft.recall.profile.least_price * (BROADLY if _is_broad(draft) else 1.0)
    room = allowance = float(max(_put(draft, NOTHING) - excess, 0))
    best: _Purchase | None = None
    tried = 0
    while best is None or tried < MAX_PLANS:
        bought = plan(choice.entries, choice.offers, room, least, follows=follows, part=part_of(allowance))
        placed = placement(draft, choice, bought)
        purchase = _Purchase(_put(draft, placed) - excess, bought, placed)
        free = purchase.free
        tried += 1
        best = purchase if free >= 0 and (best is None or free < best.free) else best
        if room <= 0 or (free >= 0 and (free < max(SHORT_TOKENS, LEFT_OVER * room) or not bought.lacks_room)):
            break
        room = room + free if free > 0 else max(bought.spent * allowance / (allowance - free) - tried, 0.0)
    best = best or purchase
    if best is not purchase:
        _put(draft, best.placement)
    draft.in_runs = best.placement.in_runs
    return best.plan


def _is_broad(draft: PageDraft) -> bool:
    """Whether the answer is in many messages."""
    return has_word("broad_questions", draft.writer.question)


def choose(draft: PageDraft) -> Choice:
    """What may be bought: the conversation within the profile's limits, and what was found."""
    recall = draft.recall
    view, answered = recall.view, 0.0
    finds: Sequence[Find] = ()
    if recall.profile.searches and not draft.query.is_small_talk:
        outdated = outdated_results(view) if recall.profile.tool_output.newest_only else frozenset()
        instructions = {item.origin for item in draft.items("instructions") if not item.spans}
        page_rows = draft.whole_rows() | draft.active.outdated | outdated | instructions
        question = draft.questions[-1].row if draft.questions else -1
        observations, room = draft.observations, draft.ledger.remaining
        rules, summaries = recall.profile.retrieval, draft.observations.summaries
        result = retrieve(draft.query, view, rules, draft.ranker, page_rows, room, recall.terms, question, summaries)
        draft.retrieval = with_observations(result, observations, draft, page_rows)
        draft.omissions.add(LINE_REASONS["superseded"], outdated)
        finds = _within_limits(_findable(draft, page_rows), draft)
        answered = 1.0 if _is_broad(draft) or not result.candidates else result.candidates.answered
    return choice_of(draft, finds, answered)


def _findable(draft: PageDraft, page_rows: frozenset[int]) -> list[Find]:
    """The finds that say something new, have a section, and are no rule without what took it back."""
    recall = draft.recall
    apart = {row for entry in (*recall.turn, *draft.questions) for row in entry.results or (entry.row,)}
    finds = [find for find in news(draft.retrieval.finds, draft, {}) if find.row not in apart and _has_section(draft, find.row)]
    there = page_rows.union(find.row for find in finds)
    alone = {row for permission, rows in draft.active.rules.items() if permission not in there for row in rows}
    return [find for find in finds if find.row not in alone]


def _has_section(draft: PageDraft, row: int) -> bool:
    return draft.rule("retrieval") is not None or not is_elsewhere(draft, row)


def _within_limits(finds: Sequence[Find], draft: PageDraft) -> Sequence[Find]:
    limits = dict(draft.recall.profile.retrieval.per_schema_limit)
    within: list[Find] = []
    for find in finds:
        crumb = draft.recall.view.breadcrumb(find.row)
        rest = limits.get(crumb.schema, 1)
        if rest:
            within.append(find)
            limits.update({crumb.schema: rest - 1} if crumb.schema in limits else {})
        else:
            limit = draft.recall.profile.retrieval.per_schema_limit[crumb.schema]
            reason = f"beyond the {limit} most probable of {crumb.schema}"
            draft.omissions.name([Omission(id=crumb.id, reason=reason, tokens=find.tokens)])
    return within


def _put(draft: PageDraft, placed: Placement) -> int:
    """Put it into the sections; returns the tokens that are left for what may be bought."""
    ledger = draft.ledger
    running, rest = list[Item](), list[Item]()
    for item in placed.conversation:
        (running if _is_running(draft, item) else rest).append(item)
    turn, window, elsewhere = draft.rule("turn"), draft.rule("window"), draft.rule("retrieval")
    if draft.whole:
        turn = window = None
    if turn:
        triggering = [item for item in ledger.items.get(turn.name, ()) if item.entry in draft.recall.turn]
        ledger.put(turn.name, [*running, *triggering], RUNNING)
    if window:
        ledger.put(window.name, rest, DIALOGUE)
    if elsewhere:
        ledger.put(elsewhere.name, placed.elsewhere, FIND)
    ledger.noted = frozenset(entry.row for entry in placed.in_runs)
    ledger.settle()
    if window:
        number, missing = len(ledger.units), len(ledger.gaps.missing)
        phrases = draft.writer.rendering.phrases
        name = "message_missing" if missing == 1 else "messages_missing"
        ledger.put_note(window.name, phrases(name, number=number, missing=missing) if missing else "")
        return min(ledger.remaining, window.max_tokens(ledger.allowance) - ledger.spent[window.name])
    return ledger.remaining


def _is_running(draft: PageDraft, item: Item) -> bool:
    if not draft.recall.turn or not draft.questions or not draft.rule("turn"):
        return False
    return item.origin > draft.questions[0].origin and draft.recall.view.is_own(item.first)


def account(draft: PageDraft, choice: Choice, bought: Plan) -> None:
    """Say how probable the finds are that were bought, and why the rest is not on the page."""
    view, probabilities = draft.recall.view, draft.ledger.probabilities
    for number, (find, entry) in enumerate(zip(choice.finds, choice.offers.entry.tolist(), strict=True)):
        if number in bought.parts.get(entry, ()) or (entry in bought.whole and entry >= bought.newest):
            name = view.breadcrumb(find.row).id
            probabilities[name] = min(probabilities.get(name, 0.0) + find.probability, 1.0)
    reason = OVER_BUDGET if bought.lacks_room else IRRELEVANT
    draft.omissions.name(
        Omission(id=view.breadcrumb(find.row).id, reason=reason, tokens=find.tokens)
        for number, (find, entry) in enumerate(zip(choice.finds, choice.offers.entry.tolist(), strict=True))
        if entry not in bought.whole and number not in bought.parts.get(entry, ())
    )
    draft.omissions.name(draft.retrieval.omissions)
    for cause, candidates in ((reason, draft.retrieval.crowded()), (IRRELEVANT, draft.retrieval.irrelevant())):
        draft.omissions.add(cause, candidates.every, candidates.nearest)
    for entry, limit in draft.limits.left_out:
        draft.omissions.add(limit, entry.rows)
    if not draft.whole:
        older = dialogue_rows(view)
        draft.omissions.add(OLDER, older, older[::-1].tolist())
