"""The choice for a page as numbers: the entries next to the question, the finds, tokens and worth."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from builder.assemble.budget.limits import STUB_TOKENS
from builder.assemble.budget.plan import COMPANION
from builder.assemble.budget.purchases import Entries, Offers
from builder.assemble.budget.worth import Ints, others_of_a_kind, worth_in_many, worth_of_share
from builder.assemble.draft import PageDraft
from builder.assemble.items.forms import RenderForm
from builder.assemble.items.writer import Item
from builder.assemble.sources.finds import MAX_CALL_TOKENS
from builder.domain.tool_output import ToolOutput
from builder.language.word_lists import UNSPACED
from builder.recall.index.conversation import Entry, exchange_of, turn_of
from builder.recall.index.view import View
from builder.recall.search.candidates import Find

LATELY = 6
"""Messages with words behind which a result is no longer new."""
LINE_TOKENS = 6
"""A call in a run of calls, about."""
RESULT_LABEL_TOKENS, RESULT_FACTOR = 4, 1.05
"""Tokens of a result's label, and times its stored tokens, about."""
QUESTION_TOKENS, ANSWER_TOKENS, ANSWER_SHARE = 25, 60, 0.1
"""Most tokens of a question that comes along with its answer, and of an answer with its question; of a small room a share."""
MAX_FINDS = 300
"""The best, which are looked at."""


@dataclass(slots=True)
class Choice:
    """Everything that may be on the page. Entries and finds are numbered alike here and in the arrays."""

    order: list[Entry]
    entries: Entries
    finds: tuple[Find, ...]
    offers: Offers
    observations: dict[int, Find]
    """Number of an entry → the observation that it is."""
    find_of: dict[int, Find]
    """Number of an entry → the best find of it."""
    folded: frozenset[int]
    """Entries whose results the profile lets be no more than a line."""
    items: dict[tuple[object, ...], Item] = field(default_factory=dict)
    """Entry and form → its item, once it was rendered."""


@dataclass(slots=True)
class _Costs:
    """Entries and their tokens, in the order in which they were met."""

    draft: PageDraft
    order: list[Entry] = field(default_factory=list)
    number: dict[tuple[int, str], int] = field(default_factory=dict)
    """Origin and request of an entry → its number."""
    whole: list[float] = field(default_factory=list)
    lead: list[float] = field(default_factory=list)
    """Tokens of the label of a message, of the call above results."""
    pictures: list[float] = field(default_factory=list)
    observations: dict[int, Find] = field(default_factory=dict)
    _labels: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, entry: Entry) -> int:
        """Its number."""
        key = (entry.origin, entry.request)
        if key not in self.number:
            self.number[key] = len(self.order)
            self.order.append(entry)
            lead, whole = self._tokens(entry)
            pictures = self._pictures(entry)
            self.lead.append(lead)
            self.whole.append(whole + pictures)
            self.pictures.append(pictures)
        return self.number[key]

    def add_find(self, find: Find) -> int:
        """Number of the entry that shows it; an observation is one of its own."""
        entry = entry_of(self.draft.recall.view, find.row)
        if not find.lines:
            return self.add(entry)
        self.observations[len(self.order)] = find
        self.order.append(entry)
        self.lead.append(0.0)
        self.whole.append(float(find.tokens))
        self.pictures.append(0.0)
        return len(self.order) - 1

    def _pictures(self, entry: Entry) -> float:
        writer, view = self.draft.writer, self.draft.recall.view
        if writer.profile.chat_format is None or entry in self.draft.repeated or entry in self.draft.limits.placeholders:
            return 0.0
        senders = [view.breadcrumb(row) for row in (entry.results if entry.request else (entry.row,))]
        return sum(writer.picture_tokens(view.breadcrumb(entry.row), senders, is_call=bool(entry.request)))

    def _tokens(self, entry: Entry) -> tuple[float, float]:
        view, writer = self.draft.recall.view, self.draft.writer
        crumb = view.breadcrumb(entry.row)
        if entry.request:
            call = float(writer.fragment(crumb, RenderForm(call=entry.request)).tokens)
            lead = min(call, MAX_CALL_TOKENS)
            if entry in self.draft.repeated:
                return lead, LINE_TOKENS
            if entry in self.draft.limits.placeholders:
                return lead, call + STUB_TOKENS * len(entry.results)
            return lead, call + sum(RESULT_FACTOR * float(view.tokens[row]) + RESULT_LABEL_TOKENS for row in entry.results)
        speaker = crumb.speaker, crumb.role
        if speaker not in self._labels:
            self._labels[speaker] = float(writer.rendering.count(f"- {writer.labels.of(crumb)}: ")) + 1
        return self._labels[speaker], float(view.tokens[entry.row]) + self._labels[speaker]


def choice_of(draft: PageDraft, finds: Sequence[Find], answered: float) -> Choice:
    """finds: the best first. answered: the probability that anything answers."""
    costs = _Costs(draft)
    for entry in draft.limits.entries if draft.rule("window") and not draft.whole else ():
        costs.add(entry)
    newest = len(costs.order)
    folded = _folded(costs, draft.recall.profile.tool_output, draft.ledger.remaining)
    for number in folded:
        costs.whole[number], costs.pictures[number] = LINE_TOKENS, 0.0
    best = tuple(finds[:MAX_FINDS])
    numbers = [costs.add_find(find) for find in best]
    entries = Entries(
        newest=newest,
        whole=np.array(costs.whole, np.float64),
        pictures=np.array(costs.pictures, np.float64),
        line=np.array([LINE_TOKENS if entry.request else np.inf for entry in costs.order], np.float64),
        is_certain=_certain(costs.order, newest),
        result=-1 if draft.recall.turn or draft.is_broad else _newest_result(costs.order[:newest]),
    )
    find_of = dict(zip(reversed(numbers), reversed(best), strict=True))
    offers = _offers(draft, costs, best, numbers, answered)
    return Choice(costs.order, entries, best, offers, costs.observations, find_of, folded)


def _offers(draft: PageDraft, costs: _Costs, finds: Sequence[Find], numbers: Sequence[int], answered: float) -> Offers:
    """numbers: for each find its entry's."""
    view = draft.recall.view
    share = np.array([find.share for find in finds], np.float64)
    worth = worth_in_many(share) if draft.is_broad else worth_of_share(share, answered)
    worth_of_row = {find.row: own for find, own in zip(reversed(finds), worth[::-1].tolist(), strict=True)}
    are_parts = [
        not find.lines and bool(find.spans or costs.order[number].request) for find, number in zip(finds, numbers, strict=True)
    ]
    return Offers(
        entry=np.array(numbers, np.int64),
        tokens=np.array([find.tokens or view.tokens[find.row] for find in finds], np.float64),
        lead=np.array([costs.lead[number] for number in numbers], np.float64),
        worth=np.maximum(worth, [COMPANION * worth_of_row.get(find.neighbour_of, 0.0) for find in finds]),
        is_part=np.array(are_parts, np.bool_),
        leader=_leaders(finds, draft),
        alike=others_of_a_kind([_pattern(view, find) for find in finds]),
        copies=dict(_copies(costs, finds, numbers)),
    )


def _copies(costs: _Costs, finds: Sequence[Find], numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    view = costs.draft.recall.view
    for find, number in zip(finds, numbers, strict=True):
        last = find.row if find.lines else view.repeats(find.row)[-1]
        if last != find.row:
            copy = costs.number.get((entry_of(view, last).origin, ""), number)
            if copy != number:
                yield number, copy


def _folded(costs: _Costs, rules: ToolOutput, room: float) -> frozenset[int]:
    """The results that the limit folds: the oldest, above a share of the room."""
    if rules.fold_at is None:
        return frozenset()
    lines = sum(LINE_TOKENS if entry.request else tokens for entry, tokens in zip(costs.order, costs.whole, strict=True))
    rest = room - min(lines, (1 - rules.fold_at) * room)
    folded: set[int] = set()
    for number, (entry, tokens) in enumerate(zip(costs.order, costs.whole, strict=True)):
        if not entry.request:
            continue
        if number >= (rules.fold_keep or 0) and tokens - LINE_TOKENS > rest:
            folded.add(number)
        else:
            rest -= tokens - LINE_TOKENS
    return frozenset(folded)


def entry_of(view: View, row: int) -> Entry:
    """The entry that shows a row: a message, or the call that a result answers."""
    crumb, versions = view.breadcrumb(row), view.history.breadcrumbs.versions
    first = versions[crumb.id][0]
    exchange = exchange_of(view, first) if crumb.role == "tool" else None
    if exchange is None:
        return Entry(first, row)
    origin = versions[view.breadcrumb(exchange.callers[0]).id][0]
    calls = (entry for entry in turn_of(view, origin) if entry.request == exchange.request)
    return next(calls, Entry(first, row))


def _certain(order: Sequence[Entry], newest: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The last message, and the calls of the last turn."""
    certain = np.zeros(len(order), np.bool_)
    for number, entry in enumerate(order[:newest]):
        if not entry.request:
            certain[number] = True
            break
        certain[number] = entry.origin == order[0].origin
    return certain


def _newest_result(newest: Sequence[Entry]) -> int:
    words = 0
    for number, entry in enumerate(newest):
        if entry.request and entry.results:
            return number
        words += not entry.request
        if words > LATELY:
            break
    return -1


def _leaders(finds: Sequence[Find], draft: PageDraft) -> Ints:
    """The find that brings each: the first of a chain, so what is brought brings nothing itself.

    A rule that was taken back comes along with the permission that ended it.
    """
    room = draft.ledger.remaining
    ended_by = {row: permission for permission, rows in draft.active.rules.items() for row in rows}
    first: dict[int, int] = {}
    for number, find in enumerate(finds):
        first.setdefault(find.row, number)
    above = [first.get(row, -1) if (row := ended_by.get(find.row, _leader(find, room))) != find.row else -1 for find in finds]
    leaders = np.full(len(finds), -1, np.int64)
    for number in range(len(finds)):
        chain = [number]
        while above[chain[-1]] >= 0 and above[chain[-1]] not in chain:
            chain.append(above[chain[-1]])
        is_round = above[chain[-1]] in chain
        top = min(chain) if is_round else chain[-1]
        leaders[number] = -1 if top == number else top
    return leaders


def _leader(find: Find, room: int) -> int:
    most_of_answer = max(QUESTION_TOKENS, min(ANSWER_TOKENS, ANSWER_SHARE * room))
    most = most_of_answer if find.reply_to >= 0 else QUESTION_TOKENS
    return find.leader if find.leader >= 0 and find.tokens <= most else find.replaces


_WORD = re.compile(r"\b[^\W\d]+\b")
"""Without any digit."""
_DIGIT = re.compile(r"\d")


def _pattern(view: View, find: Find) -> Ints:
    """Hashes of the words that tell its kind; of unspaced writing each pair of neighbouring signs."""
    patterns, key = view.history.patterns, (find.row, find.spans)
    if key not in patterns:
        text = view.breadcrumb(find.row).text
        text = ("".join(text[start:end] for start, end in find.spans) or text).lower()
        if UNSPACED.search(text):
            words = {part for word in _WORD.findall(_DIGIT.sub("", text)) for part in _pairs(word)}
        else:
            words = set(_WORD.findall(text))
        patterns[key] = np.array([*map(hash, words)], np.int64)
    return patterns[key]


def _pairs(word: str) -> Iterator[str]:
    if not UNSPACED.search(word):
        yield word
    yield from (word[start : start + 2] for start in range(len(word) - 1) if UNSPACED.match(word[start]))
