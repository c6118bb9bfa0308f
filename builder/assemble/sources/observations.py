"""Observations in the place of the messages that were found."""

import json
from collections.abc import Iterable
from dataclasses import replace

from builder.assemble.items.writer import Item, Writer
from builder.domain.context import Fragment, Omission
from builder.recall.index.view import View
from builder.recall.search.retrieval import Find, RetrievalResult
from builder.recall.summaries.observations import Observation, Observations

OBSERVED = "found; an observation says it"
"""Why it is on the page."""
STOOD_FOR = "an observation stands for it"
"""Why a message that was found is not on the page."""


def with_observations(
    result: RetrievalResult, observations: Observations, view: View, page_rows: frozenset[int]
) -> RetrievalResult:
    """The same with observations in the place of the messages that they stand for, each once, at the rank of the best.

    A message that alone has a word of the query stays: no observation says that. page_rows: rows that the page shows; an
    observation of these alone says nothing new.
    """
    if not observations.summaries:
        return result
    page_rows |= {find.row for find in result.finds if find.is_literal and find.row not in observations.summaries}
    finds = _exchanged(result.finds, observations, page_rows)
    neighbours = _exchanged(result.neighbours, observations, page_rows | {find.row for find in finds})
    messages = (find.row for find in (*result.finds, *result.neighbours) if find.row in observations.by_row)
    omissions = tuple(Omission(id=view.breadcrumb(row).id, reason=STOOD_FOR) for row in messages)
    return replace(result, finds=finds, neighbours=neighbours, omissions=(*omissions, *result.omissions))


def observation_item(find: Find, writer: Writer) -> Item:
    """The lines of a find at the place of the first message that they stand for, each with its date."""
    chains, fragments = writer.view.history.chains, tuple[Fragment, ...]()
    for row, line in find.lines:
        body = json.dumps(replace(chains.summary(row), lines=(line,)).body(), ensure_ascii=False)
        fragments += writer.message(replace(writer.view.breadcrumb(row), body=body), find.row).fragments
    return Item(origin=find.row, fragments=fragments)


def _exchanged(finds: Iterable[Find], observations: Observations, page_rows: frozenset[int]) -> tuple[Find, ...]:
    """What stands for the same first message is one find."""
    exchanged: dict[tuple[int, tuple[tuple[int, int], ...]], Find] = {}
    for find in finds:
        for row, lines in _instead_of(find, observations):
            if lines and page_rows.issuperset(row for each in lines for row in each.rows):
                continue
            place = (row, () if lines else find.spans)
            before = exchanged.get(place, replace(find, row=row, spans=place[1], tokens=0 if lines else find.tokens))
            pairs = dict.fromkeys((*before.lines, *((each.summary, each.line) for each in lines)))
            exchanged[place] = replace(before, lines=tuple(pairs))
    return tuple(exchanged.values())


def _instead_of(find: Find, observations: Observations) -> list[tuple[int, tuple[Observation, ...]]]:
    """The observations that stand for a find, by the first row of each; the find's own row and none where there are none.

    Nothing for a find of an observation that holds no more.
    """
    if find.row in observations.summaries:
        one = observations.by_place.get((find.row, find.spans[0][0] if find.spans else 0))
        return [(one.rows[0], (one,))] if one else []
    observed = () if find.is_literal else observations.by_row.get(find.row, ())
    return [(each.rows[0], (each,)) for each in observed] or [(find.row, ())]
