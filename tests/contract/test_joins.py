"""What a tool answers in no session belongs to the session that asked, in every store."""

import pytest

from builder.domain.recall import EVERY_SESSION, RecallQuery, Scope
from builder.domain.stored import StoredBreadcrumb
from builder.ports.store import CompleteStore as Store
from builder.ports.store import origins_of
from tests.contract.test_store import remember_all
from tests.factories import FAR, MODEL, make_answer, make_place, make_question, make_remembered


def edited(answer: str, sequence: int, *calls: str) -> StoredBreadcrumb:
    return make_answer(sequence, id=answer, version=2, calls=calls)


async def ids(store: Store, *sessions: str, after: int = 0, limit: int = 99) -> list[str]:
    return [row.breadcrumb.id for row in (await store.recall(query(*sessions, after=after, limit=limit))).rows]


async def revision(store: Store, session: str = "s42") -> int:
    return (await store.recall(query(session))).revision


def query(*sessions: str, after: int = 0, limit: int = 99) -> RecallQuery:
    scope = Scope(workspace="acme", sessions=sessions or ("s42",))
    return RecallQuery(
        scope=scope, session=scope.sessions[0], after=make_place(after), until=FAR, limit=limit, pinned=(), model=MODEL
    )


async def test_an_answer_of_no_session_belongs_to_the_session_that_asked(store: Store) -> None:
    await remember_all(
        store, make_question(1), make_question(2, "r2", "s43"), make_answer(3), make_answer(4, "r2"), make_answer(5, "r9")
    )
    assert await ids(store) == ["m1", "m3"]
    assert await ids(store, "s43") == ["m2", "m4"]
    assert await ids(store, "s42", "s43") == ["m1", "m2", "m3", "m4"]
    assert await ids(store, EVERY_SESSION) == ["m1", "m2", "m3", "m4", "m5"]


async def test_its_session_is_that_of_the_only_caller_before_it(store: Store) -> None:
    late, twice = make_answer(3).breadcrumb, make_answer(9).breadcrumb
    assert await store.caller_session(late) == ""
    await remember_all(store, make_question(1), make_question(5, session="s43"))
    assert [await store.caller_session(answer) for answer in (late, twice)] == ["s42", ""]
    assert await store.caller_session(make_answer(3, "r9").breadcrumb) == ""


async def test_calls_may_be_noted_before_their_session_is_remembered_and_answers_join_by_them(store: Store) -> None:
    await remember_all(store, make_answer(3))
    before = await revision(store)
    await store.add_call_origins(origins_of(make_question(1).breadcrumb))
    assert await store.caller_session(make_answer(3).breadcrumb) == "s42"
    assert (await ids(store), await revision(store) > before) == (["m3"], True)
    await store.add_call_origins(origins_of(make_question(2, session="s43").breadcrumb))
    await remember_all(store, make_question(1))
    assert (await ids(store), await ids(store, "s43")) == (["m1"], [])


async def test_it_comes_in_its_place_and_page_by_page(store: Store) -> None:
    await remember_all(
        store, make_question(1), make_answer(2), make_remembered("Thanks.", 3), make_answer(4), make_remembered("Bye.", 5)
    )
    assert [await ids(store, after=after, limit=2) for after in (0, 2, 4)] == [["m1", "m2"], ["m3", "m4"], ["m5"]]


async def test_an_answer_that_several_sessions_may_have_asked_for_joins_none(store: Store) -> None:
    await remember_all(store, make_question(1), make_answer(2), make_question(3, session="s43"), make_answer(4))
    assert (await ids(store), await ids(store, "s43")) == (["m1", "m2"], ["m3"])


async def test_an_answer_that_came_before_its_question_belongs_to_nobody(store: Store) -> None:
    await remember_all(store, make_answer(1), make_question(2))
    assert await ids(store) == ["m2"]


async def test_who_passes_a_call_on_in_no_session_is_none_of_them(store: Store) -> None:
    passed_on = make_remembered("search", 2, schema="tool.request.v1", session="_", calls=("r1",), call_signatures=("{}",))
    await remember_all(store, make_question(1), passed_on, make_answer(3))
    assert await ids(store) == ["m1", "m3"]


@pytest.mark.parametrize("calls", [(), ("r1",), ("r2",)])
async def test_a_later_version_joins_where_the_first_did_whatever_it_names(store: Store, calls: tuple[str, ...]) -> None:
    await remember_all(store, make_question(1), make_question(2, "r2", "s43"), make_answer(3))
    await remember_all(store, edited("m3", 4, *calls))
    assert [(row.breadcrumb.version, row.joins) for row in (await store.recall(query())).rows] == [
        (1, ""),
        (1, "s42"),
        (2, "s42"),
    ]
    assert await ids(store, "s43") == ["m2"]


async def test_whichever_reaches_the_store_first_an_answer_joins_the_same(store: Store) -> None:
    await remember_all(store, edited("m4", 5), make_answer(4), make_question(1))
    assert (await ids(store), await revision(store)) == (["m1", "m4", "m4"], 1)
    await remember_all(store, make_question(3, session="s43"))
    assert (await ids(store), await ids(store, "s43")) == (["m1"], ["m3"])
    assert (await revision(store), await revision(store, "_")) == (2, 2)


async def test_two_workspaces_do_not_answer_each_other(store: Store) -> None:
    await remember_all(store, make_question(1), make_answer(2, workspace="rival"))
    assert await ids(store) == ["m1"]


async def test_what_is_erased_leaves_the_session_that_it_joined(store: Store) -> None:
    await remember_all(store, make_question(1), make_answer(2))
    await store.erase("acme", "_", "m2", FAR)
    assert (await ids(store), await revision(store)) == (["m1"], 1)


async def test_what_one_session_asked_never_becomes_another_s_when_the_question_is_erased(store: Store) -> None:
    await remember_all(store, make_question(1), make_question(2, session="s43"), make_answer(3), make_answer(4, "r2"))
    await store.erase("acme", "s43", "m2", FAR)
    assert (await ids(store), await ids(store, "s43")) == (["m1"], [])


async def test_who_lists_no_session_too_sees_whose_each_answer_is(store: Store) -> None:
    await remember_all(store, make_question(1), make_answer(2), make_answer(3, "r9"))
    rows = (await store.recall(query("_", "s43"))).rows
    assert [(row.breadcrumb.id, row.joins) for row in rows] == [("m2", "s42"), ("m3", "")]


async def test_a_request_id_of_any_length_joins(store: Store) -> None:
    call = "".join(map(chr, range(0x4E00, 0x4E00 + 5_000)))
    await remember_all(store, make_question(1, call), make_question(2, f"{call}!", "s43"), make_answer(3, call))
    assert await ids(store) == ["m1", "m3"]
    assert await store.caller_session(make_answer(4, f"{call}!").breadcrumb) == "s43"
