"""Observations instead of the messages that were found."""

import json
from collections.abc import Iterable
from dataclasses import replace

from builder.assemble.draft import PageDraft
from builder.assemble.items.writer import Item, Writer
from builder.domain.context import Fragment, Omission
from builder.recall.search.candidates import Find
from builder.recall.search.retrieval import RetrievalResult
from builder.recall.summaries.plan import Observation, Observations

OBSERVED = "found; an observation says it"
"""Why it is on the page."""
STOOD_FOR = "an observation stands for it"
"""Why a message that was found is not on the page."""


def with_observations(
    result: RetrievalResult, observations: Observations, draft: PageDraft, page_rows: frozenset[int]
) -> RetrievalResult:
    """The same with observations instead of the messages that they stand for, each once, at the rank of the best.

    page_rows: rows that the page shows; an observation of these alone says nothing new.
    """
    if not observations.summaries:
        return result
    every = (*result.finds, *result.neighbours)
    staying = frozenset(find.row for find in every if _says_more(find, observations.by_row.get(find.row, ()), draft))
    rows_shown = page_rows | staying
    finds = _exchanged(result.finds, observations, staying, rows_shown, draft.writer)
    neighbours = _exchanged(result.neighbours, observations, staying, rows_shown | {find.row for find in finds}, draft.writer)
    rows = (find.row for find in every if find.row in observations.by_row and find.row not in staying)
    omissions = tuple(Omission(id=draft.recall.view.breadcrumb(row).id, reason=STOOD_FOR) for row in rows)
    return replace(result, finds=finds, neighbours=neighbours, omissions=(*omissions, *result.omissions))


def observation_item(find: Find, writer: Writer) -> Item:
    """The lines of a find as an item; with their dates where the section has none."""
    chains, fragments, section = writer.view.history.chains, tuple[Fragment, ...](), writer.profile.section("retrieval")
    is_dated = section is not None and section.dates != "none"
    for row, line in find.lines:
        dated_line = replace(line, day="" if is_dated else line.day)
        body = json.dumps(replace(chains.summary(row), lines=(dated_line,)).body(), ensure_ascii=False)
        fragments += writer.message(replace(writer.view.breadcrumb(row), body=body), find.row).fragments
    return Item(origin=find.row, fragments=fragments)


def _says_more(find: Find, observed: tuple[Observation, ...], draft: PageDraft) -> bool:
    """Whether a found message has a word of the question that its observations lack, or one that was replaced."""
    if any(find.row not in each.rows for each in observed):
        return True
    text, terms = draft.recall.view.breadcrumb(find.row).text, draft.recall.terms
    words = " ".join(text[start:end] for start, end in find.spans) or text
    others = " ".join(each.line.text for each in observed)
    return bool(others) and not {*draft.query.terms}.intersection(terms(words).split()) <= {*terms(others).split()}


def _exchanged(
    finds: Iterable[Find], observations: Observations, staying: frozenset[int], page_rows: frozenset[int], writer: Writer
) -> tuple[Find, ...]:
    exchanged: dict[tuple[int, tuple[tuple[int, int], ...]], Find] = {}
    for find in finds:
        for row, observed in _instead_of(find, observations, staying):
            if observed and page_rows.issuperset(observed.rows):
                continue
            key = (row, () if observed else find.spans)
            new = replace(find, row=row, spans=key[1])
            before = exchanged.setdefault(key, new)
            if observed and all(line != observed.line for _, line in before.lines):
                exchanged[key] = replace(before, lines=(*before.lines, (observed.summary, observed.line)))
    return tuple(
        replace(find, tokens=observation_item(find, writer).tokens) if find.lines else find for find in exchanged.values()
    )


def _instead_of(find: Find, observations: Observations, staying: frozenset[int]) -> list[tuple[int, Observation | None]]:
    """The observations for a find; beside a message that stays, only their successors."""
    if find.row in observations.summaries:
        one = observations.by_start.get((find.row, find.spans[0][0] if find.spans else 0))
        return [(one.rows[0], one)] if one else []
    observed = observations.by_row.get(find.row, ())
    pairs: list[tuple[int, Observation | None]] = [
        (each.rows[0], each) for each in observed if find.row not in staying or find.row not in each.rows
    ]
    return [(find.row, None), *pairs] if find.row in staying or not observed else pairs
