"""An assembly explained: the receipt of all of it, and a sentence about one breadcrumb."""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

import numpy as np

from builder.assemble.assemble import Assembly
from builder.assemble.receipts.absence_reasons import reason_of_row
from builder.assemble.receipts.page_parts import page_parts, source_of
from builder.assemble.receipts.sentences import absent_sentence, present_sentence
from builder.domain.profile import Profile
from builder.domain.receipt import AbsentSource, BudgetReceipt, PagePart, Receipt, SectionBudget
from builder.recall.index.view import View
from builder.recall.search.evidence import SearchEvidence
from builder.recall.search.ranking import Ranker


class Explanation:
    """Made on demand: nothing of it is computed while a context is built."""

    def __init__(self, assembly: Assembly, ranker: Ranker) -> None:
        """ranker: the weights with which it was ranked."""
        recall = assembly.draft.recall
        self._assembly = assembly
        self._evidence = SearchEvidence(assembly.draft.query, recall.view, ranker, assembly.draft.retrieval.candidates)

    def receipt(self, most: int | None = None) -> Receipt:
        """Every line of the page, and what is not on it. most: breadcrumbs that are named of the latter; None = all."""
        missing = self._assembly.absence
        return Receipt(
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
        """Why the breadcrumb is on the page, or why not, in one sentence; it must be known."""
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
        """The most relevant first."""
        reasons = {row: reason for reason, rows in self._assembly.absence.rows.items() for row in rows.tolist()}
        for row in self._evidence.by_relevance(np.array(sorted(reasons), np.int64)):
            yield self._absent_source(row, reasons[row])

    def _absent_source(self, row: int, reason: str) -> AbsentSource:
        tokens = int(self._view.history.breadcrumbs.tokens.head(row + 1)[row])
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
                least=int(rule.min_share * profile.aim) if rule.source == "retrieval" else 0,
                most=rule.max_tokens(profile.aim),
            )
            for name, rule in ledger.rules.items()
        )
        return BudgetReceipt(
            budget=profile.budget,
            reserve=profile.reserve,
            margin=profile.margin,
            allowance=profile.allowance,
            aim=profile.aim,
            tokens=self._assembly.page.tokens,
            is_whole=self._assembly.draft.whole,
            sections=tuple(sections),
        )
