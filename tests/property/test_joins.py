"""What tools answer in no session: on the page of who asked, on nobody else's, whoever remembers what first and whatever goes."""

import asyncio
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.sql.store import SqlStore
from builder.domain.stored import StoredBreadcrumb
from builder.service import ContextBuilder
from tests.examples import examples
from tests.factories import make_place
from tests.property.sessions import hear, remember
from tests.property.test_as_of import build, crumbs_of, make_builder
from tests.stores import durable_store

SESSIONS = ("s1", "s2")
CALLS = ("r1", "r2", "r3")


@st.composite
def talks(draw: st.DrawFn) -> tuple[StoredBreadcrumb, ...]:
    """Two sessions whose agents count their calls, and answers of neither; some of it said anew."""
    rows: list[StoredBreadcrumb] = []
    for sequence in range(1, draw(st.integers(2, 14))):
        session, call = draw(st.sampled_from(SESSIONS)), draw(st.sampled_from(CALLS))
        match draw(st.sampled_from(("ask", "ask", "answer", "answer", "answer", "edit", "pass on"))):
            case "ask":
                asked = [{"tool": "search", "input": {"n": sequence}, "requestId": call}]
                said = {"message": f"Question q{sequence}x.", "tool_requests": asked}
                rows.append(hear(sequence, "agent.response.v1", said, session=session))
            case "pass on":
                rows.append(hear(sequence, "tool.request.v1", {"tool": "search", "requestId": call}, session="_"))
            case "answer":
                rows.append(hear(sequence, "tool.response.v1", _answer(sequence, call), session="_"))
            case _:
                older = [row.breadcrumb.id for row in rows if row.breadcrumb.joins_by]
                if older:
                    again, crumb = _answer(sequence, draw(st.sampled_from((call, "")))), draw(st.sampled_from(older))
                    rows.append(hear(sequence, "tool.response.v1", again, crumb, version=sequence, session="_"))
    return tuple(rows)


def _answer(sequence: int, call: str) -> dict[str, str]:
    return {"tool": "search", "output": f"Answer q{sequence}x."} | ({"request_id": call} if call else {})


def owners(rows: tuple[StoredBreadcrumb, ...]) -> dict[str, str]:
    """Mark of each answer's newest version → the session that it belongs to, by brute force; of nobody's there is no entry."""
    found: dict[str, str] = {}
    newest = {row.breadcrumb.id: row for row in rows}
    for name, last in newest.items():
        named = [row.breadcrumb for row in rows if row.breadcrumb.id == name and row.breadcrumb.joins_by]
        asked = [row.breadcrumb for row in rows if named and row.breadcrumb.asks_for and row.breadcrumb.place < named[0].place]
        sessions = {crumb.session for crumb in asked if named[0].joins_by in crumb.calls}
        if len(sessions) == 1:
            found[f"q{last.breadcrumb.place.sequence}x"] = sessions.pop()
    return found


async def pages(rows: Iterable[StoredBreadcrumb], store: SqlStore, gone: Iterable[str] = ()) -> dict[str, str]:
    """Session → its page, when everything was remembered in this order, was read, and then these were erased."""
    builder = make_builder(store)
    await remember(builder, *crumbs_of(rows))
    found = {session: await _page(builder, session) for session in SESSIONS}
    for name in gone:
        await store.erase("acme", "_", name, make_place(900))
        found = {session: await _page(builder, session) for session in SESSIONS}
    store.close()
    return found


async def _page(builder: ContextBuilder, session: str) -> str:
    trigger = hear(990 + SESSIONS.index(session), "user.message.v1", {"content": "And now?"}, session=session)
    return (await build(builder, trigger)).markdown


def strangers(pages: dict[str, str], rows: tuple[StoredBreadcrumb, ...]) -> list[tuple[str, str]]:
    """The answers of no session that stand on a page of a session that did not ask for them, or not alone."""
    mine = owners(rows)
    marks = [f"q{row.breadcrumb.place.sequence}x" for row in rows if row.breadcrumb.session == "_"]
    return [(session, mark) for session, page in pages.items() for mark in marks if mark in page and mine.get(mark) != session]


@examples(40)
@given(talks().flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_an_answer_is_on_no_page_but_of_the_only_one_who_asked_in_whatever_order_they_are_remembered(
    orders: tuple[tuple[StoredBreadcrumb, ...], list[StoredBreadcrumb]],
) -> None:
    first, *others = [asyncio.run(pages(order, durable_store())) for order in orders]
    assert all(other == first for other in others)
    assert strangers(first, orders[0]) == []


@examples(50)
@given(talks(), st.lists(st.integers(1, 14), max_size=3))
def test_whatever_is_erased_nobody_gets_what_another_one_asked_for(rows: tuple[StoredBreadcrumb, ...], gone: list[int]) -> None:
    assert strangers(asyncio.run(pages(rows, durable_store(), [f"m{number}" for number in gone])), rows) == []
