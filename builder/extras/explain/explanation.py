"""An assembly explained: the receipt of all of it, and a sentence about one breadcrumb."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from builder.assemble.assemble import AssembledPage
from builder.assemble.presence import rows_of_calls
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import IRRELEVANT, OLDER
from builder.domain.profile import Profile, SectionRule
from builder.extras.explain.context_receipt import (
    AbsentSource,
    BudgetReceipt,
    ContextReceipt,
    Evidence,
    PagePart,
    PageSource,
    SectionBudget,
)
from builder.extras.explain.evidence import SearchEvidence
from builder.extras.explain.page_parts import page_parts, source_of
from builder.recall.index.view import View

MAX_SIGNALS = 3
"""Signals that a sentence names, those with the most points."""
MIN_POINTS = 0.05
"""Below which a signal decides nothing."""


def present_sentence(parts: Sequence[PagePart], rules: Mapping[str, SectionRule]) -> str:
    """parts: all of one breadcrumb, at least one."""
    first = parts[0]
    lines = ", ".join(dict.fromkeys(_lines_of(part, rules) for part in parts))
    reason = "; ".join(dict.fromkeys(part.reason for part in parts))
    reduced = "; ".join(dict.fromkeys(part.reduced for part in parts if part.reduced))
    tokens = sum(part.tokens for part in parts)
    evidence = next((part.evidence for part in parts if part.evidence), None)
    return (
        f"{_source_name(first.source)} is on the page, {lines}, with {tokens} tokens: {reason}"
        f"{f' ({evidence_words(evidence)})' if evidence else ''}{f'; not all of it is shown: {reduced}' if reduced else ''}."
    )


def absent_sentence(absent: AbsentSource, profile: Profile) -> str:
    """profile: of the consumer."""
    evidence = f" ({evidence_words(absent.evidence)})" if absent.evidence else ""
    bound = _bound(absent.evidence, profile) if absent.reason == IRRELEVANT else ""
    return f"{_source_name(absent.source)} is not on the page: {absent.reason}{bound}{evidence}."


def _bound(evidence: Evidence | None, profile: Profile) -> str:
    limit = profile.retrieval.min_probability
    if limit is not None and not (evidence and evidence.probability >= limit):
        return f", which asks for a probability of at least {limit:g}"
    least = f", and worth less than `worth` asks: a message that the answer needs may cost {profile.worth or 0:,} tokens"
    return least if profile.worth else ""


def evidence_words(evidence: Evidence) -> str:
    """Probability, rank and the strongest signals."""
    strongest = ", ".join(
        f"{signal.name} {signal.points:+.2f}" + ("" if signal.value is None else f" from {signal.value:.3g}")
        for signal in evidence.signals[:MAX_SIGNALS]
        if abs(signal.points) >= MIN_POINTS
    )
    rank = f"rank {evidence.rank:,} of {evidence.candidates:,}"
    return f"probability {evidence.probability:.2g}, {rank}" + (f", most points: {strongest}" if strongest else "")


def _lines_of(part: PagePart, rules: Mapping[str, SectionRule]) -> str:
    title = rules[part.section].title if part.section in rules else part.section
    if not part.first:
        return f"in {title!r}"
    lines = f"line {part.first}" if part.first == part.last else f"lines {part.first} to {part.last}"
    return f"{lines} in {title!r}"


def _source_name(source: PageSource | None) -> str:
    return f"{source.id} v{source.version} ({source.schema}, {source.speaker})" if source else "it"


SECTIONS_WITH_SHARES = ("window", "retrieval")
"""Sources of sections that have a share for themselves."""
OTHERWISE = "the page has no section for it"
SECTIONS_OF_FINDS = ("retrieval", "elsewhere", "conversation")
"""Their sources."""


def reason_of_row(assembly: AssembledPage, row: int) -> str:
    """Why a row is not on the page."""
    recall = assembly.draft.recall
    crumb = recall.view.breadcrumb(row)
    if not recall.view.current[row]:
        return _hidden(crumb, row, assembly)
    reason = next((reason for reason, rows in assembly.absence.rows.items() if row in rows), "")
    if reason and reason != OLDER:
        return reason
    if row in rows_of_calls(assembly.draft.ledger):
        return "its call is on the page with the message that made it"
    if row in assembly.draft.verbatim:
        return "the summary on the page says all of it"
    unsearched = _not_searched(crumb, row, recall.view, recall.profile, is_small_talk=assembly.draft.query.is_small_talk)
    return "; ".join(filter(None, (reason, unsearched))) or OTHERWISE


def _hidden(crumb: Breadcrumb, row: int, assembly: AssembledPage) -> str:
    recall = assembly.draft.recall
    profile, view, trigger = recall.profile, recall.view, recall.trigger
    ended = crumb.expires_at if crumb.expires_at is not None and crumb.expires_at <= trigger.received_at else None
    task = f"task {crumb.task!r}" if crumb.task else "no task"
    is_of_audience = profile.audience is None or profile.audience.matches(crumb)
    reasons = (
        (not view.prefix.latest[row], "it was replaced by a later version, or deleted"),
        (ended, f"it had expired at {ended or trigger.received_at:%Y-%m-%d %H:%M}Z"),
        (not is_of_audience, f"the audience of profile {profile.consumer!r} does not match it"),
        (
            profile.scope_to_task and crumb.task != trigger.task,
            f"it belongs to {task}, the message to {trigger.task or 'none'!r}",
        ),
        (recall.scope.user and crumb.session != trigger.session, f"it is no part of the memory of {recall.scope.user!r}"),
        (crumb.place > trigger.place, "it came after the message to answer, and belongs to a context of its own"),
        (True, "the blacklist (context.blacklist.v1) excludes it, or a part of its tool exchange"),
    )
    return next(reason for applies, reason in reasons if applies)


def _not_searched(crumb: Breadcrumb, row: int, view: View, profile: Profile, *, is_small_talk: bool) -> str:
    """Why it could not be found; "" = it could."""
    rules = profile.retrieval
    reasons = (
        (not any(map(profile.section, SECTIONS_OF_FINDS)), "the profile has no section for what is found"),
        (is_small_talk, "the message asks for nothing, so nothing was searched"),
        (crumb.schema not in rules.schemas, f"the profile searches {', '.join(rules.schemas) or 'nothing'}, not {crumb.schema}"),
        (not crumb.text.strip(), "it has no words to find"),
        (bool(view.history.breadcrumbs.filler[row]), "it is small talk, which holds nothing to find"),
        (rules.people == "named" and crumb.role == "user", "the message does not name its speaker, as the profile asks"),
        (rules.similarity_threshold > 0, f"its similarity is below the threshold of {rules.similarity_threshold}"),
    )
    return next((reason for applies, reason in reasons if applies), "")


class PageExplanation:
    """Made on demand, after the build."""

    def __init__(self, assembly: AssembledPage) -> None:
        draft = assembly.draft
        self._assembly = assembly
        self._evidence = SearchEvidence(draft.query, draft.recall.view, draft.ranker, draft.retrieval.candidates)

    def receipt(self, most: int | None = None) -> ContextReceipt:
        """Every line of the page, and what is not on it. most: of the latter that are named; None = all."""
        missing = self._assembly.absence
        return ContextReceipt(
            parts=self._parts,
            absent=tuple(islice(self._absent(), most)),
            by_reason=missing.by_reason,
            budget=self._budget(),
            question=self._evidence.question(self._profile.retrieval.min_probability),
        )

    def knows(self, identity: str) -> bool:
        """Whether the breadcrumb was recalled for this page, or is on it."""
        return any(part.source and part.source.id == identity for part in self._parts) or self._view.row_of(identity) >= 0

    def why(self, identity: str) -> str:
        """Why a known breadcrumb is on the page or not, in one sentence."""
        parts = [part for part in self._parts if part.source and part.source.id == identity]
        if parts:
            return present_sentence(parts, self._assembly.draft.ledger.rules)
        row = self._view.row_of(identity)
        return absent_sentence(self._absent_source(row, reason_of_row(self._assembly, row)), self._profile)

    @cached_property
    def _parts(self) -> tuple[PagePart, ...]:
        return page_parts(self._assembly, self._evidence)

    @property
    def _view(self) -> View:
        return self._assembly.draft.recall.view

    @property
    def _profile(self) -> Profile:
        return self._assembly.draft.recall.profile

    def _absent(self) -> Iterator[AbsentSource]:
        reasons = {row: reason for reason, rows in self._assembly.absence.rows.items() for row in rows.tolist()}
        for row in self._evidence.by_relevance(np.array(sorted(reasons), np.int64)):
            yield self._absent_source(row, reasons[row])

    def _absent_source(self, row: int, reason: str) -> AbsentSource:
        tokens = int(self._view.tokens[row])
        crumb = self._view.breadcrumb(row)
        return AbsentSource(source=source_of(crumb), reason=reason, tokens=tokens, evidence=self._evidence.of_row(row))

    def _budget(self) -> BudgetReceipt:
        profile, ledger = self._profile, self._assembly.draft.ledger
        sections = (
            SectionBudget(
                name=name,
                source=rule.source,
                section_class=rule.section_class,
                tokens=ledger.spent[name],
                least=int(rule.min_share * profile.allowance) if rule.source in SECTIONS_WITH_SHARES else 0,
                most=rule.max_tokens(profile.allowance),
            )
            for name, rule in ledger.rules.items()
        )
        return BudgetReceipt(
            budget=profile.budget,
            reserve=profile.reserve,
            margin=profile.margin,
            allowance=profile.allowance,
            tokens=self._assembly.page.tokens,
            is_whole=self._assembly.draft.whole,
            sections=tuple(sections),
        )
