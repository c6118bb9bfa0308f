"""Companions of finds: the other half of question and answer, and later changes."""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from builder.language.questions import asks, asks_within, question_tag
from builder.language.sentences import sentences
from builder.language.word_lists import has_word, opens_with, words
from builder.language.words import Terms, identifiers, words_of
from builder.recall.index.conversation import results_of
from builder.recall.index.view import View
from builder.recall.search.candidates import Candidates, Find, find_of
from builder.recall.search.query import Query

FIRST_CHARS = 40
"""Characters of a text in which a word of answer is looked for."""
MAX_REPLIES = 5
"""Rows after a question in which its reply is looked for, and most replies of one question."""
_SPEAKERS = frozenset({"user", "assistant"})


def named_replies(row: int, view: View) -> tuple[int, ...]:
    """Rows of the responses that name this breadcrumb, the newest of many."""
    responses = view.history.breadcrumbs.answers.get(view.breadcrumb(row).id, ())
    return tuple(other for other in responses if other < view.size and view.current[other])[-MAX_REPLIES:]


def next_replies(row: int, text: str, view: View) -> tuple[int, ...]:
    """Rows of what another speaker said next, when the text asks."""
    if not asks_within(text) or view.breadcrumb(row).role not in _SPEAKERS:
        return ()
    questions = reversed(view.repeats(row)[-MAX_REPLIES:])
    return tuple(reply for question in questions for reply in _next_reply(question, view))


def question_before(row: int, view: View) -> int:
    """Row of the question that a message answers; -1 = none."""
    table = view.history.breadcrumbs
    rows = table.rows_of[int(view.session_of[row])]
    index = bisect_right(rows, row) - 1
    before = (other for other in reversed(rows[max(index - MAX_REPLIES, 0) : index]) if view.current[other])
    last = next((other for other in before if view.breadcrumb(other).role in _SPEAKERS), -1)
    if last < 0 or table.speaker[last] == table.speaker[row] or view.breadcrumb(row).role not in _SPEAKERS:
        return -1
    return last if asks(view.breadcrumb(last).text.rstrip()) else -1


def results_of_turn(row: int, view: View) -> tuple[int, ...]:
    """Rows of the results of an agent's calls."""
    exchanges = view.history.exchanges.of_caller.get(row, ()) if view.breadcrumb(row).role in _SPEAKERS else ()
    return tuple(dict.fromkeys(result for exchange in exchanges for result in results_of(view, exchange)))[:MAX_REPLIES]


def _next_reply(row: int, view: View) -> tuple[int, ...]:
    """The next answering message of another speaker: one that begins with yes or no, else the first."""
    speaker, filler = view.history.breadcrumbs.speaker, view.history.breadcrumbs.filler
    following = tuple(_following(row, view))
    others = [other for other in following if not (filler[other] and is_no_answer(view.breadcrumb(other).text))]
    answering = (other for other in others if opens_with("answers", view.breadcrumb(other).text[:FIRST_CHARS]))
    first = next(answering, next(iter(others), None))
    if first is None:
        return ()
    behind = next(iter(following[following.index(first) + 1 :]), None)
    if behind is None or not filler[first] or filler[behind] or speaker[behind] != speaker[first]:
        return (first,)
    return first, behind


def _following(row: int, view: View) -> Iterator[int]:
    table = view.history.breadcrumbs
    speaker, filler = table.speaker, table.filler
    rows = table.rows_of[int(view.session_of[row])]
    start = bisect_right(rows, row)
    for other in rows[start : start + MAX_REPLIES]:
        if other >= view.size or (speaker[other] == speaker[row] and not filler[other]):
            return
        if speaker[other] != speaker[row] and view.current[other] and view.breadcrumb(other).role in _SPEAKERS:
            yield other


def is_no_answer(text: str) -> bool:
    """Whether small talk is thanks, a greeting or "hm", or has neither a word nor a picture such as 👍."""
    first = next(iter(words_of(text[:FIRST_CHARS])), "")
    return first in words("no_answers") if first else not any(unicodedata.category(sign) == "So" for sign in text)


BEST_FINDS = 5
"""Finds whose replies come along however long they are, and whose replacements are looked for."""
PAIR_TOKENS = 60
"""Most tokens of the other half of question and answer, and of a replacement."""
NEXT_SHARE = 0.5
"""Probability of what was said next to a question, as a share of the question's; and of a question, of its answer's."""
RARE_PASSAGES, RARE_SHARE = 3, 0.01
"""Passages, or share of them, up to which one term tells that two messages have the same subject."""
COMMON_SHARE = 0.05
"""Share of the passages up to which two terms tell it."""
NEAR_SUBJECT = 0.5
"""Share of the best shared subject: the latest message with so much of it is the replacement."""


def with_companions(
    best: Sequence[Find],
    view: View,
    candidates: Candidates,
    page_rows: frozenset[int],
    query: Query,
    terms: Terms,
    room: int,
) -> tuple[Find, ...]:
    """The finds and what comes along with them, the most probable first; without open questions.

    room: tokens; finds beyond it bring nothing.
    """
    on_page = page_rows | {find.row for find in best}
    finds = {(find.row, find.spans): find for find in best if not _is_open_question(find, view)}
    tokens = accumulate(find.tokens for find in finds.values())
    near = tuple(find for find, number in zip(finds.values(), tokens, strict=True) if number <= room)
    for number, find in enumerate(near):
        others = [*_pair(find, view, candidates, page_rows, long=number < BEST_FINDS)]
        later = _replacement(find, view, candidates, query, terms) if number < BEST_FINDS else None
        others += [replace(later, replaces=find.row, probability=find.probability)] if later else []
        for other in others:
            earlier = finds.get((other.row, other.spans))
            if earlier:
                probability = max(other.probability, earlier.probability)
                finds[other.row, other.spans] = replace(_with_leader(earlier, find, other), probability=probability)
            elif not stands_elsewhere(other.row, view, on_page):
                finds[other.row, other.spans] = other
    return tuple(sorted(finds.values(), key=_order(finds.values())))


def _with_leader(find: Find, leader: Find, other: Find) -> Find:
    """A find, with what it says of the more probable one that brings it, too."""
    if find.leader >= 0 or find.replaces >= 0 or leader.probability < find.probability:
        return find
    return replace(find, reply_to=other.reply_to, answer=other.answer, replaces=other.replaces)


def _order(finds: Collection[Find]) -> Callable[[Find], tuple[float, int, int]]:
    """The short other half of a pair comes right after its leader; a long one there costs points of recall."""
    ranks = {find.row: (-find.probability, number) for number, find in reversed([*enumerate(finds)])}

    def order(find: Find) -> tuple[float, int, int]:
        if find.leader not in ranks or find.tokens > PAIR_TOKENS:
            return -find.probability, ranks[find.row][1], 0
        return min((-find.probability, len(ranks), 0), (*ranks[find.leader], 1))

    return order


def _pair(find: Find, view: View, candidates: Candidates, page_rows: frozenset[int], *, long: bool) -> Iterator[Find]:
    """A response that names what it answers is as probable as that; of what was only said next, it is a share."""
    for row, share in _replies(find, view):
        reply = _reply(row, view, candidates)
        if reply and (long or reply.tokens <= PAIR_TOKENS) and row not in page_rows:
            yield replace(reply, reply_to=find.row, probability=max(share * find.probability, reply.probability))
    row = question_before(find.row, view) if not find.spans and find.tokens <= PAIR_TOKENS else -1
    question = _reply(row, view, candidates) if row >= 0 and row not in page_rows else None
    if question and not question.spans and question.tokens <= PAIR_TOKENS:
        yield replace(question, answer=find.row, probability=max(NEXT_SHARE * find.probability, question.probability))


def _replies(find: Find, view: View) -> Iterator[tuple[int, float]]:
    responses = named_replies(find.row, view)
    for row in (find.row, *responses):
        yield from ((result, 1.0) for result in results_of_turn(row, view))
    if responses:
        yield from ((row, 1.0) for row in responses)
        return
    for row in next_replies(find.row, _text(find, view), view):
        yield row, 1.0 if view.first_passage(row) is None else NEXT_SHARE


def _reply(row: int, view: View, candidates: Candidates) -> Find | None:
    first = view.first_passage(row)
    if first is not None:
        first += int(candidates.scores[first : view.history.passages.first(row + 1)].argmax())
        return find_of(view, first, candidates) if candidates.unseen[first] and view.prefix.of_form[first] == 1 else None
    crumb = view.breadcrumb(row)
    return Find(row=row) if candidates.breadcrumbs[row] and not crumb.calls and crumb.text.strip() else None


def _is_open_question(find: Find, view: View) -> bool:
    text = view.breadcrumb(find.row).text.strip()
    if find.spans or find.is_literal or not asks(text) or len(sentences(text)) > 1:
        return False
    says = identifiers(text) or has_word("changes", text) or question_tag().search(text)
    return not says and next(_replies(find, view), None) is None


def _replacement(find: Find, view: View, candidates: Candidates, query: Query, terms: Terms) -> Find | None:
    """The latest short message after a find that shares its subject and changes it."""
    terms_of_find = tuple(dict.fromkeys(_subject(find, view, terms).split()))
    numbers, passages, _ = view.prefix.postings(terms_of_find)
    holding = np.bincount(numbers, minlength=len(terms_of_find))[numbers]
    tells = holding <= max(COMMON_SHARE * view.passages, RARE_PASSAGES)  # common words say nothing of a subject
    numbers, passages, holding = numbers[tells], passages[tells], holding[tells]
    points = np.bincount(passages, np.log1p(view.passages / holding), view.passages)
    is_rare = holding <= max(RARE_SHARE * view.passages, RARE_PASSAGES)
    shared = np.flatnonzero(np.bincount(passages, 1 + is_rare, view.passages) > 1)
    later = candidates.unseen[shared] & (view.crumb[shared] > find.row)
    later &= (view.history.passages.tokens[shared] <= PAIR_TOKENS) & (view.prefix.session[shared] == view.session_of[find.row])
    shared = shared[later]
    of_query = np.array([term in query.terms for term in terms_of_find], np.bool_)[numbers]
    in_query = frozenset(passages[of_query].tolist())
    before = frozenset(identifiers(_text(find, view)) if in_query else ())
    changed = [passage for passage in shared.tolist() if _changes(view, passage, before if passage in in_query else frozenset())]
    most = max(points[changed], default=0.0)
    near = [passage for passage in changed if points[passage] >= NEAR_SUBJECT * most]
    return find_of(view, near[-1], candidates) if near else None


def _changes(view: View, passage: int, earlier: frozenset[str]) -> bool:
    """Whether a passage changes what was said before: by its words, or by identifiers other than the earlier ones, if any."""
    if passage not in view.history.changes:  # a long history has thousands on one subject
        text = view.text_of(passage)
        view.history.changes[passage] = has_word("changes", text), frozenset(identifiers(text))
    has_words, numbers = view.history.changes[passage]
    return has_words or (bool(earlier) and bool(numbers - earlier))


def _subject(find: Find, view: View, terms: Terms) -> str:
    key = find.row, find.spans
    if key not in view.history.subjects:
        view.history.subjects[key] = terms(_text(find, view))
    return view.history.subjects[key]


def _text(find: Find, view: View) -> str:
    text = view.breadcrumb(find.row).text
    return "".join(text[start:end] for start, end in find.spans) or text


def stands_elsewhere(row: int, view: View, on_page: frozenset[int]) -> bool:
    """Whether another row says the same there."""
    return any(other in on_page for other in view.repeats(row) if other != row)
