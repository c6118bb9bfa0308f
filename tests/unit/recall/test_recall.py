"""Everything in scope as of a trigger, as each consumer may see it."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from builder.domain.recall import StoredBreadcrumb
from builder.recall.recall import ConsumerRecall, Recaller
from builder.recall.scopes import HistoryCache, HistoryReader
from builder.recall.search.query import Searcher
from builder.recall.workspaces import Workspaces
from builder.remember.schemas.control import excluded
from tests.conversations import answered, bash, chat, replied, said
from tests.factories import MODEL, make_breadcrumb, make_place, make_profile, make_remembered, make_terms
from tests.stores import durable_store


async def no_vector(_text: str) -> bytes:
    return b""


async def recaller(*rows: StoredBreadcrumb) -> Recaller:
    store = durable_store()
    for row in rows:
        await store.remember(row)
    reader = HistoryReader(store=store, cache=HistoryCache(1000), model=MODEL)
    workspaces = Workspaces(reader, Searcher(embed=no_vector, terms=make_terms))
    return Recaller(reader=reader, workspaces=workspaces, terms=make_terms, exclusions=excluded)


def visible_ids(recall: ConsumerRecall) -> list[str]:
    return [recall.view.breadcrumb(int(row)).id for row in np.flatnonzero(recall.view.current)]


def blacklist(sequence: int, **body: object) -> StoredBreadcrumb:
    return make_remembered("", sequence, schema="context.blacklist.v1", session="_", role="other", body=json.dumps(body))


async def test_the_trigger_and_what_comes_later_are_not_recalled() -> None:
    recall = await recaller(*chat(5))
    (recalls,) = await recall.recall(chat(5)[2].breadcrumb, (make_profile(),))
    assert visible_ids(recalls) == ["m1", "m2"]
    assert recalls.turn == ()


async def test_a_tools_answer_that_closes_its_turn_is_part_of_what_is_recalled() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls"), bash("b", "pwd")), answered(3, "b", 1), answered(4, "a", 2)]
    recall = await recaller(*rows)
    assert await recall.recall(rows[2].breadcrumb, (make_profile(),)) == ()
    (recalls,) = await recall.recall(rows[3].breadcrumb, (make_profile(),))
    assert visible_ids(recalls) == ["m1", "m2", "m3", "m4"]
    assert [entry.request for entry in recalls.turn] == ["a", "b"]


async def test_what_the_blacklist_names_is_hidden_from_its_place_on() -> None:
    recall = await recaller(said(1, "One."), said(2, "Two."), blacklist(4, excluded_ids=["m1"]))
    before, after = [(await recall.recall(make_breadcrumb("And now?", n), (make_profile(),)))[0] for n in (3, 9)]
    assert (visible_ids(before), visible_ids(after)) == (["m1", "m2"], ["m2"])


async def test_a_later_blacklist_of_a_session_excludes_beside_that_of_operators_and_takes_nothing_off_it() -> None:
    own = make_remembered("", 5, schema="context.blacklist.v1", role="other", body=json.dumps({"excluded_ids": ["m2"]}))
    recall = await recaller(said(1, "One."), said(2, "Two."), said(3, "Three."), blacklist(4, excluded_ids=["m1"]), own)
    (seen,) = await recall.recall(make_breadcrumb("And now?", 9), (make_profile(),))
    assert {"m1", "m2", "m3"}.intersection(visible_ids(seen)) == {"m3"}


async def test_a_summariser_sees_the_session_up_to_and_including_the_place() -> None:
    recall = await recaller(*chat(5), said(6, "Elsewhere.", session="s43"))
    assert (await recall.session_view("acme", "s42", make_place(4))).size == 4
    assert (await recall.session_view("acme", "s44", make_place(4))).size == 0


async def test_a_summariser_sees_neither_what_is_excluded_nor_what_had_expired_when_the_last_row_came() -> None:
    last = said(4, "Four.").breadcrumb.received_at
    over, still = ending(said(1, "One."), last), ending(said(2, "Two."), last + timedelta(seconds=1))
    recall = await recaller(over, still, said(3, "Three."), said(4, "Four."), blacklist(7, excluded_ids=["m3"]))
    view = await recall.session_view("acme", "s42", make_place(4))
    assert view.current.tolist() == [False, True, True, True]
    view = await recall.session_view("acme", "s42", make_place(7))
    assert view.current[2:4].tolist() == [False, True]


def ending(row: StoredBreadcrumb, moment: datetime) -> StoredBreadcrumb:
    return replace(row, breadcrumb=replace(row.breadcrumb, expires_at=moment))


async def test_a_blacklist_right_behind_the_place_hides_nothing_of_what_was_there_by_then() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls")), answered(3, "a", 1)]
    recall = await recaller(*rows, blacklist(4, excluded_ids=["m1"]))
    (of_tool,) = await recall.recall(rows[2].breadcrumb, (make_profile(),))
    assert visible_ids(of_tool) == ["m1", "m2", "m3"]
    view = await recall.session_view("acme", "s42", make_place(3))
    assert view.current.tolist() == [True, True, True]
