"""Small wrong changes of assembly, made at run time: the check of the invariants must find each of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import builder.adapters.templates.fragments as rendering
import builder.assemble.assemble as assembly
from builder import service
from builder.adapters.templates import folder as templates
from builder.assemble import draft as drafts
from builder.assemble.absence import OmissionLog
from builder.assemble.budget import limits
from builder.assemble.budget.ledger import Gaps, Ledger
from builder.assemble.draft import PageDraft
from builder.assemble.items import labels, writer
from builder.assemble.items.forms import RenderForm
from builder.assemble.sources import finds, placement, purchase, results
from builder.domain.context import Omission
from builder.domain.profile import SectionRule
from builder.extras.chat_formats import page_messages
from builder.recall.index.conversation import Turn
from builder.recall.index.view import View

Function = Callable[..., Any]
FEW_ENTRIES = 5
"""Entries that are left by a limit of no profile."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted fault."""

    target: Any
    """Module or class in which the function is looked up."""
    name: str
    """Name of the function there."""
    change: Callable[[Function], Function]
    """The right function → the wrong one."""


def _turns(change: Callable[[list[Turn], Any], Iterable[Turn]]) -> Mutant:
    """change: the turns, the newest first, and the view → other turns."""
    return Mutant(limits, "turns", lambda right: lambda view: iter(list(change(list(right(view)), view))))


def _lines(change: Callable[[str], str]) -> Mutant:
    """change: text of an item → another."""
    return Mutant(templates, "items", lambda right: lambda text: change(right(text)))


def _rotated(turn: Turn) -> Turn:
    answered = [entry for entry in turn if entry.request and entry.results]
    others = dict(zip(answered, (*answered[1:], *answered[:1]), strict=True))
    return tuple(replace(entry, results=others[entry].results) if entry in others else entry for entry in turn)


def _once(turns: list[Turn], view: Any) -> Iterator[Turn]:
    texts: set[str] = set()
    for turn in turns:
        text = view.breadcrumb(turn[0].row).text
        if text not in texts:
            yield turn
        texts.add(text)


def _by_edit(turns: list[Turn]) -> list[Turn]:
    """An edited message at the place of its edit."""
    return sorted(turns, key=lambda turn: -turn[0].row)


def _dropping(number: int) -> Callable[[Function], Function]:
    return lambda right: lambda *args, **kwargs: tuple(right(*args, **kwargs))[number:]


def _named_though_hidden(right: Function) -> Function:
    def absence(self: OmissionLog, *args: Any) -> Any:
        rows = [row for row in range(self.view.size) if not self.view.current[row]]
        self.name(Omission(id=self.view.breadcrumb(row).id, reason="over budget") for row in rows[:1])
        return right(self, *args)

    return absence


def _without_reason(right: Function) -> Function:
    def absence(*args: Any) -> Any:
        result = right(*args)
        return replace(result, by_reason=dict(list(result.by_reason.items())[1:]))

    return absence


def _with_allowance(change: Callable[[int], int]) -> Callable[[Function], Function]:
    def changed(right: Function) -> Function:
        return lambda self, writer, allowance: right(self, writer, change(allowance))

    return changed


def _oldest_question(right: Function) -> Function:
    def questions_of(recall: Any) -> Any:
        view, questions = recall.view, right(recall)
        rows = [row for row in view.rows.tolist() if view.current[row] and view.breadcrumb(row).role == "user"]
        return (replace(questions[0], origin=rows[0], row=rows[0]),) if questions and rows else questions

    return questions_of


def _few(right: Function) -> Function:
    def limited(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        return replace(result, entries=result.entries[:FEW_ENTRIES])

    return limited


def _miscounted(right: Function) -> Function:
    def compose(ledger: Ledger) -> Any:
        page = right(ledger)
        return replace(page, tokens=page.tokens - 1)

    return compose


def _one_fewer(right: Function) -> Function:
    def put_note(self: Ledger, section: str, *lines: str) -> None:
        right(self, section, *(re.sub(r"(?<=^\()\d+(?= of )", lambda match: str(int(match.group()) - 1), line) for line in lines))

    return put_note


def _first_twice(right: Function) -> Function:
    def place(*args: Any) -> Any:
        result = right(*args)
        return replace(result, conversation=(*result.conversation[:1], *result.conversation))

    return place


def _without_newest(right: Function) -> Function:
    def plan(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        result.whole.discard(0)
        result.short.discard(0)
        return result

    return plan


MUTANTS: Mapping[str, Mutant] = {
    "a hole has no sign": Mutant(Gaps, "signs", lambda _: lambda _self, items, **_kwargs: iter([""] * len(items))),
    "the number on top is one too small": Mutant(Ledger, "put_note", _one_fewer),
    "a label lacks though another one speaks": Mutant(
        placement, "without_label", lambda right: lambda item, _before, *rest: right(item, item, *rest)
    ),
    "an item stands twice": Mutant(purchase, "placement", _first_twice),
    "a message is missing": _turns(lambda turns, _: turns[:2] + turns[3:]),
    "two turns are swapped": _turns(lambda turns, _: [*turns[1:2], *turns[:1], *turns[2:]]),
    "a result stands below another call": _turns(lambda turns, _: map(_rotated, turns)),
    "an older version is shown": _turns(lambda turns, _: [tuple(replace(one, row=one.origin) for one in turn) for turn in turns]),
    "an edited message moves to its edit": _turns(lambda turns, _: _by_edit(turns)),
    "a repeat is removed": _turns(_once),
    "the last result of a call is missing": _turns(
        lambda turns, _: [tuple(replace(one, results=one.results[:-1]) for one in turn) for turn in turns]
    ),
    "what was deleted stays": Mutant(View, "shows", lambda _: lambda view, row: view.dialogue[row]),
    "a limit acts that nobody named": Mutant(drafts, "limit_conversation", _few),
    "a result that has room is one line": Mutant(
        drafts, "limited", lambda _: lambda entry, _limits, writer: writer.entry(entry, "folded" if entry.results else "")
    ),
    "the newest message is not bought": Mutant(purchase, "plan", _without_newest),
    "a section has more than its share": Mutant(SectionRule, "max_tokens", lambda _: lambda _self, allowance: allowance),
    "the results that triggered have no room": Mutant(results, "_evenly", lambda _: lambda *_args: {}),
    "the question is the first message": Mutant(drafts, "questions_of", _oldest_question),
    "another agent's calls are the running turn": Mutant(PageDraft, "is_of_turn", lambda _: lambda _self, _entry: True),
    "calls of the running turn stand in the conversation": Mutant(purchase, "_is_running", lambda _: lambda *_args: False),
    "room stays empty": Mutant(Ledger, "__init__", _with_allowance(lambda tokens: tokens // 2)),
    "what is missing is not told": Mutant(Ledger, "put_note", lambda _: lambda _self, *_: None),
    "a sign stands where nothing is missing": Mutant(
        Gaps, "_between", lambda right: lambda self, one, other, number: right(self, one, other, number + 1)
    ),
    "the question is behind its calls in messages": Mutant(
        page_messages, "_ending_with_calls", lambda right: lambda *args, **kwargs: tuple(reversed(right(*args, **kwargs)))
    ),
    "a hidden result takes its call": Mutant(
        limits,
        "turns",
        lambda right: lambda view: (tuple(one for one in turn if one.results or not one.is_answered) for turn in right(view)),
    ),
    "a cut has no mark": Mutant(
        rendering,
        "shorten",
        lambda right: lambda *args: re.sub(r"\[… [\d,]+ characters left out[^…]*…\]\s?", "", right(*args)),
    ),
    "a call without an answer does not say so": Mutant(
        writer, "RenderForm", lambda _: lambda **kwargs: RenderForm(**{**kwargs, "below": ""})
    ),
    "blank lines are dropped": _lines(lambda text: re.sub("\n\n+", "\n", text)),
    "indentation is lost": _lines(lambda text: re.sub("\n {3,}", "\n  ", text)),
    "a text opens structure at the root": _lines(lambda text: text.replace("\n  ", "\n", 1)),
    "control text stays": Mutant(rendering, "visible", lambda _: lambda text: text),
    "a display name is a label": Mutant(labels, "is_plain", lambda _: lambda *_names: True),
    "a date is another clock's": Mutant(
        writer, "day_line", lambda right: lambda moment, _offset, zone, phrases: right(moment, None, zone, phrases)
    ),
    "finds repeat the page": Mutant(
        purchase,
        "retrieve",
        lambda right: lambda query, view, rules, ranker, _rows, *rest: right(query, view, rules, ranker, frozenset(), *rest),
    ),
    "finds are not in order": Mutant(placement, "_apart", lambda right: lambda *args: right(*args)[::-1]),
    "a find has no line on its other calls": Mutant(placement, "_with_other_calls", lambda _: lambda items, *_args: tuple(items)),
    "a find has no call": Mutant(finds, "exchange_of", lambda _: lambda _view, _row: None),
    "what is cut is not listed": Mutant(assembly, "parts", _dropping(1)),
    "what is hidden is named": Mutant(OmissionLog, "absence", _named_though_hidden),
    "a reason is not counted": Mutant(OmissionLog, "absence", _without_reason),
    "a section does not name what it shows": Mutant(
        assembly,
        "sections_of",
        lambda right: (
            lambda ledger: tuple(replace(part, tokens_by_id=dict(list(part.tokens_by_id.items())[1:])) for part in right(ledger))
        ),
    ),
    "the page is one token too long": Mutant(Ledger, "__init__", _with_allowance(lambda tokens: tokens + 1)),
    "tokens are counted wrong": Mutant(assembly, "compose", _miscounted),
    "a profile that rejects gets a page": Mutant(
        service,
        "begin",
        lambda right: (
            lambda recall, rendering: right(replace(recall, profile=replace(recall.profile, on_overflow="trim")), rendering)
        ),
    ),
}
"""Name → what is changed."""


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Assembly with this change, as long as the block lasts."""
    right = mutant.target.__dict__[mutant.name]
    setattr(mutant.target, mutant.name, mutant.change(right))
    try:
        yield
    finally:
        setattr(mutant.target, mutant.name, right)
