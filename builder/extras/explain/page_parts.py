"""Every line of a page, the breadcrumb or part of the profile that it comes from, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from builder.assemble.assemble import AssembledPage
from builder.assemble.draft import PageDraft
from builder.assemble.items.writer import Item
from builder.assemble.presence import reductions
from builder.assemble.sources.conversation import NEWEST
from builder.assemble.sources.fixed import OF_TURN, OWN_WORDS
from builder.domain.breadcrumb import SUMMARY, Breadcrumb
from builder.domain.context import Fragment
from builder.domain.profile import SectionRule
from builder.extras.explain.context_receipt import PagePart, PageSource
from builder.extras.explain.evidence import SearchEvidence

FURNITURE = "heading, date or note of the service"
"""Reason of lines that come from no breadcrumb."""


def own_words(rule: SectionRule) -> str:
    """Why a section has words of the profile."""
    return OWN_WORDS.get(rule.source, rule.source)


def is_find(rule: SectionRule, item: Item) -> bool:
    """Whether a search found it."""
    is_bought = rule.source == "conversation" and item.reason not in {"", NEWEST}
    return is_bought or rule.source in {"retrieval", "elsewhere"}


def row_of_find(item: Item) -> int:
    """The row that was found: of a call its first result that is there."""
    return item.entry.results[0] if item.entry and item.is_call and item.entry.results else item.origin


def reason_of(draft: PageDraft, rule: SectionRule, item: Item, fragment: Fragment) -> str:
    """Why this part of an item is in this section."""
    if item.entry and item.entry in draft.recall.turn:
        return OF_TURN
    if is_find(rule, item) and item.origin >= 0:
        find_id, caller_id = draft.recall.view.breadcrumb(row_of_find(item)).id, item.first.id
        if caller_id != find_id and fragment.breadcrumb.id == caller_id and fragment.breadcrumb.schema != SUMMARY:
            is_call = fragment is item.fragments[0]
            return f"the call that led to {find_id}, which was found" if is_call else "a note on the other calls of that step"
    return item.reason or draft.ledger.reasons.get(rule.name, rule.source)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """One fragment of the page template: an item, or words of the profile."""

    rule: SectionRule
    item: Item | None
    text: str


def page_parts(assembly: AssembledPage, evidence: SearchEvidence) -> tuple[PagePart, ...]:
    """In page order. Lines are 0 where the template moves fragments."""
    ledger, markdown = assembly.draft.ledger, assembly.page.markdown
    stretches = tuple(_stretches(assembly))
    spans = ledger.writer.rendering.fragment_spans(ledger.writer.profile.page, ledger.page_sections())
    if len(spans) != len(stretches):
        return tuple(part for stretch in stretches for part in _parts(stretch, assembly, evidence))
    parts: list[PagePart] = []
    for stretch, (start, _) in zip(stretches, spans, strict=True):
        line = 1 + markdown.count("\n", 0, start)
        for part, text in zip(_parts(stretch, assembly, evidence), _texts(stretch), strict=True):
            last = line + text.count("\n")
            parts.append(replace(part, first=line, last=last))
            line = last + 1
    return _with_furniture(parts, markdown)


def source_of(breadcrumb: Breadcrumb) -> PageSource:
    """The breadcrumb, as receipts name it."""
    return PageSource(
        id=breadcrumb.id,
        version=breadcrumb.version,
        schema=breadcrumb.schema,
        session=breadcrumb.session,
        speaker=breadcrumb.speaker,
    )


def _stretches(assembly: AssembledPage) -> Iterator[_Stretch]:
    ledger = assembly.draft.ledger
    for name, rule in ledger.rules.items():
        if name in ledger.texts:
            yield _Stretch(rule, None, ledger.texts[name])
        for item, gap in ledger.with_gaps(name, ledger.items.get(name, ())):
            if gap:
                yield _Stretch(rule, None, "")
            yield _Stretch(rule, item, item.text)


def _texts(stretch: _Stretch) -> tuple[str, ...]:
    if stretch.item is None:
        return (stretch.text,) if stretch.text else ()
    return tuple(fragment.text for fragment in stretch.item.fragments)


def _parts(stretch: _Stretch, assembly: AssembledPage, evidence: SearchEvidence) -> Iterator[PagePart]:
    rule, item = stretch.rule, stretch.item
    if item is None and not stretch.text:
        return
    if item is None:
        tokens = assembly.draft.ledger.writer.rendering.count(stretch.text + "\n")
        yield PagePart(first=0, last=0, section=rule.name, source=None, tokens=tokens, reason=own_words(rule))
        return
    row = row_of_find(item)
    find = assembly.draft.recall.view.breadcrumb(row) if is_find(rule, item) and row >= 0 else None
    find_evidence = evidence.of_row(row, item.spans) if find else None
    for fragment in item.fragments:
        yield PagePart(
            first=0,
            last=0,
            section=rule.name,
            source=source_of(fragment.breadcrumb),
            tokens=fragment.tokens,
            reason=reason_of(assembly.draft, rule, item, fragment),
            reduced="; ".join(reductions(fragment, item, assembly.draft.recall.view)),
            evidence=find_evidence if find and find.id == fragment.breadcrumb.id else None,
        )


def _with_furniture(parts: list[PagePart], markdown: str) -> tuple[PagePart, ...]:
    sections = {line: part.section for part in parts for line in range(part.first, part.last + 1)}
    texts = {number: text for number, text in enumerate(markdown.split("\n"), 1) if text.strip()}
    others = [
        PagePart(first=line, last=line, section=_section(line, sections, texts), source=None, tokens=0, reason=FURNITURE)
        for line in texts
        if line not in sections
    ]
    return tuple(sorted((*parts, *others), key=lambda part: part.first))


def _section(line: int, sections: Mapping[int, str], texts: Mapping[int, str]) -> str:
    below = next(each for each in count(line) if each in sections or each not in texts)
    above = next(each for each in count(line, -1) if each in sections or each not in texts)
    if below in sections or above in sections:
        return sections.get(below) or sections[above]
    return next((sections[each] for each in sorted(sections) if each > line), "")
