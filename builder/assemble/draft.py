"""A page in the making: its sections, and why the rest is not on it."""

from dataclasses import dataclass, field, replace
from functools import partial

from builder.assemble.absence import OmissionLog
from builder.assemble.budget.ledger import Ledger
from builder.assemble.budget.limits import LimitedConversation, limit_conversation
from builder.assemble.items.pending import each
from builder.assemble.items.section_sources import SOURCES
from builder.assemble.items.writer import Item, Writer
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.phrases import Phrases
from builder.domain.profile import SectionRule
from builder.language.word_lists import has_word
from builder.recall.index.conversation import Entry, exchange_of, last_row_of_person, repeated_calls
from builder.recall.index.view import View
from builder.recall.recall import ConsumerRecall
from builder.recall.search.instructions import ActiveInstructions, active_instructions
from builder.recall.search.query import Query
from builder.recall.search.ranking import Ranker
from builder.recall.search.retrieval import RetrievalResult
from builder.recall.summaries.observations import Observations, observations_of

RESULTS = "tool_results"
"""Section of the running turn on the page of a tool's answer, before the current message."""


@dataclass(slots=True, kw_only=True)
class PageDraft:
    """One page. The steps of `assemble.py` fill it in order."""

    recall: ConsumerRecall
    writer: Writer
    ledger: Ledger
    trigger_rule: SectionRule
    limits: LimitedConversation
    questions: tuple[Entry, ...]
    """The messages that a tool's page answers, oldest first; () = they are not known, or the trigger is one itself."""
    repeated: frozenset[Entry]
    """Calls that were made again later, whose results need no more than a line."""
    full: tuple[Item, ...]
    """The running turn and the conversation within the profile's limits, the newest first, on a page that shows it whole."""
    omissions: OmissionLog
    in_runs: tuple[Entry, ...] = ()
    """Entries that lines on runs of calls stand for."""
    verbatim: frozenset[int] = frozenset()
    """Rows that the summary has word for word."""
    whole: bool
    """All of the conversation is on the page that the profile's limits leave."""
    active: ActiveInstructions = field(default_factory=ActiveInstructions)
    query: Query = field(init=False)
    ranker: Ranker = field(init=False)
    retrieval: RetrievalResult = field(default_factory=RetrievalResult)
    observations: Observations

    def rule(self, source: str) -> SectionRule | None:
        """See `Ledger.rule`."""
        return self.ledger.rule(source)

    @property
    def is_broad(self) -> bool:
        """Whether the answer is in many messages."""
        return has_word("broad_questions", self.writer.question)

    @property
    def reserve(self) -> int:
        """Tokens of a whole conversation that is not on the page yet."""
        if not self.whole or self.items("window") or self.items("turn"):
            return 0
        sections = (
            (rule, [full for full in self.full if self.is_running(full) == (rule.source == "turn")])
            for rule in filter(None, (self.rule("window"), self.rule("turn")))
        )
        return sum(self.ledger.cost(rule.name, items) + sum(max(item.extra, 0) for item in items) for rule, items in sections)

    def items(self, source: str) -> list[Item]:
        """The items of that section."""
        rule = self.rule(source)
        return self.ledger.items.get(rule.name, []) if rule else []

    def is_running(self, item: Item) -> bool:
        """Whether it belongs to the turn that is to be answered."""
        return item.entry is not None and self.is_of_turn(item.entry)

    def is_of_turn(self, entry: Entry) -> bool:
        """Whether it belongs to the turn that is to be answered."""
        view, turn = self.recall.view, self.recall.turn
        if not turn or entry in turn or not self.questions:
            return entry in turn
        crumb = view.breadcrumb(entry.row)
        is_call = entry.origin > self.questions[0].origin and bool(entry.request or crumb.calls) and view.is_own(crumb)
        return is_call and question_of(view, (entry,)) in self.questions

    @property
    def rest(self) -> int:
        """Tokens left beside the headings of conversation and running turn."""
        rules = (rule for rule in (self.rule("window"), self.rule("turn")) if rule)
        return max(self.ledger.remaining - sum(self.ledger.heading(rule.name) for rule in rules), 0)

    def whole_rows(self) -> frozenset[int]:
        """Rows of which the page shows all."""
        placed = (item for source in ("window", "turn", "trigger", "memory") for item in self.items(source))
        rows = {row for item in placed for row in item.whole_rows}
        pinned = (row.breadcrumb.id for kind in self.recall.pinned for row in kind) if self.rule("pinned") else ()
        trigger = self.recall.view.row_of(self.recall.trigger.id) if not self.recall.turn else -1
        return frozenset(row for row in (*rows, *map(self.recall.view.row_of, pinned), trigger, *self.verbatim) if row >= 0)


def limited(entry: Entry, limits: LimitedConversation, writer: Writer) -> Item:
    """An entry as the profile limits it; what is shorter than its line is whole."""
    full = writer.entry(entry)
    line = writer.entry(entry, "placeholder") if entry in limits.placeholders else full
    return line if line.size < full.size else full


def new_draft(recall: ConsumerRecall, writer: Writer, *, whole: bool) -> PageDraft:
    """An empty page. whole: it shows all of the conversation."""
    questions = questions_of(recall)
    current = [recall.view.breadcrumb(each.row) for each in questions] or [recall.trigger]
    text = "\n".join(crumb.text for crumb in current)
    sections = _sections(recall, current[-1], writer.rendering.phrases)
    recall = replace(recall, profile=replace(recall.profile, sections=sections))
    writer = replace(writer, profile=recall.profile, question=text)
    apart = (*recall.turn, *questions)
    limits = limit_conversation(recall.view, recall.profile, recall.profile.allowance, apart, folded=not whole)
    entries = (*reversed(recall.turn), *limits.entries)
    is_tight = recall.profile.tool_output.newest_only and not whole and (limits.is_part or not limits.left_out)
    has_all = whole and not limits.left_out and recall.profile.retrieval.scope == "session"
    is_looked_for = recall.profile.section("instructions") and not has_all
    return PageDraft(
        recall=recall,
        writer=writer,
        ledger=Ledger(writer, recall.profile.allowance),
        trigger_rule=next(rule for rule in writer.profile.sections if rule.source == "trigger"),
        limits=limits,
        questions=questions,
        repeated=repeated_calls(recall.view, entries) if is_tight else frozenset(),
        full=each(partial(limited, entry, limits, writer) for entry in entries) if whole else (),
        omissions=OmissionLog(recall.view),
        active=active_instructions(recall.view, recall.trigger, recall.terms, text) if is_looked_for else ActiveInstructions(),
        observations=observations_of(recall.view, recall.profile),
        whole=whole,
    )


def questions_of(recall: ConsumerRecall) -> tuple[Entry, ...]:
    """The messages that a turn answers, oldest first; () on the page of a message."""
    if not recall.turn:
        return ()
    view, versions = recall.view, recall.view.history.breadcrumbs.versions
    current = tuple(Entry(versions[name][0], view.row_of(name)) for name in recall.questions.current)
    return current or tuple(filter(None, (question_of(view, recall.turn),)))


def _sections(recall: ConsumerRecall, current: Breadcrumb, phrases: Phrases) -> tuple[SectionRule, ...]:
    """The profile's sections with the notes and titles of this page, and the results of the turn."""
    profile, rules = recall.profile, list[SectionRule]()
    for rule in profile.sections:
        source = SOURCES[rule.source]
        is_introduced = source.is_quoted and profile.chat_format and source.is_in_system(rule)
        note = "\n".join(filter(None, (phrases("quoted") if is_introduced else "", rule.note)))
        title = rule.title
        if source.name == "trigger":
            if recall.turn and not profile.section("turn"):
                rules.append(replace(rule, name=RESULTS, title=phrases("tool_results"), source="turn"))
            is_of_agent = current.role == "assistant" and title == phrases("title_current")
            title = phrases("title_agent_message") if is_of_agent else title
        rules.append(replace(rule, title=title, note=note))
    return tuple(rules)


def question_of(view: View, turn: tuple[Entry, ...]) -> Entry | None:
    """The message that a turn answers: where its chain of answers began, else the last words of a person or another agent.

    None when nobody has said anything, or the chain names what may not be shown.
    """
    row, versions = turn[0].origin, view.history.breadcrumbs.versions
    while (answers := view.breadcrumb(row).answers) in versions:
        first, newest = versions[answers][0], view.row_of(answers)
        if newest < 0 or not view.shows(newest):
            return None
        if view.breadcrumb(newest).role != "tool":
            return Entry(first, newest) if first < turn[0].origin else None
        exchange = exchange_of(view, first)
        if exchange is None or exchange.callers[0] >= row:  # the chain only goes back
            break
        row = exchange.callers[0]
    return _last_words(view, turn[0].origin)


def _last_words(view: View, end: int) -> Entry | None:
    """The last words of a person; where nobody has said anything, those of another agent before a row."""
    row, versions = last_row_of_person(view), view.history.breadcrumbs.versions
    if row < 0:
        before = (other for other in reversed(view.rows.tolist()) if other < end and view.current[other])
        spoken = ((other, view.breadcrumb(other)) for other in before if view.dialogue[other])
        row = next((other for other, crumb in spoken if crumb.role == "assistant" and not view.is_own(crumb)), -1)
    return Entry(versions[view.breadcrumb(row).id][0], row) if row >= 0 else None
