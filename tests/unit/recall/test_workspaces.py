"""Contexts from a workspace that is read in two stages, because it is too large to be read whole."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache

import pytest

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.context import Context
from builder.domain.errors import Unavailable
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.sketch import Sketches
from builder.recall.index.view import View
from builder.recall.workspaces import NEAREST, WAITING
from builder.service import ContextBuilder
from tests.factories import FAR, bare, make_answer, make_breadcrumb, make_profile, make_question, make_remembered, remembered_of
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store
from tests.unit.service.test_service import make_builder

SERIAL = "The serial number of the blue kiln is K-4711."
QUESTION = "What is the serial number of the blue kiln?"
PROFILE = make_profile(budget=1500, retrieval={"scope": "workspace"})
MANY = 2 * NEAREST


def worker(store: SqlStore, engine: HashingEmbedder | None = None) -> ContextBuilder:
    """A builder that reads every workspace in two stages."""
    builder = make_builder(engine or HashingEmbedder(), store, (PROFILE,))
    builder.recaller.workspaces.max_rows = 0
    return builder


@cache
def others() -> tuple[StoredBreadcrumb, ...]:
    """Many messages of other sessions."""
    return tuple(
        make_remembered(f"Order {n} is fired and packed for customer {n % 17}.", n, session=f"order-{n // 50}")
        for n in range(100, 100 + MANY)
    )


@asynccontextmanager
async def filled(*crumbs: Breadcrumb) -> AsyncIterator[SqlStore]:
    """A store with many messages of other sessions, and these."""
    store = durable_store()
    await store.remember_all((*others(), *(remembered_of(crumb) for crumb in crumbs)))
    yield store
    store.close()


async def view_of(builder: ContextBuilder, trigger: Breadcrumb, profile: Profile) -> View:
    (recall,) = await builder.recaller.recall(trigger, (profile,))
    return recall.view


async def page(builder: ContextBuilder, text: str = QUESTION, sequence: int = 9_000, session: str = "now") -> Context:
    trigger = await builder.ingest.facts(make_breadcrumb(text, sequence, session=session))
    (context,) = (await builder.build_contexts(trigger, (PROFILE,))).contexts
    return context


async def test_one_message_of_many_sessions_is_found_with_what_was_said_around_it() -> None:
    said = (
        make_breadcrumb("Which kiln do you mean?", 1, session="old", schema="agent.response.v1", role="assistant"),
        make_breadcrumb(SERIAL, 2, session="old"),
    )
    async with filled(*said) as store:
        assert "K-4711" in (await page(worker(store))).markdown


async def test_its_own_session_is_on_the_page_whole() -> None:
    own = [make_breadcrumb(f"The apprentice counts shelf {n}.", 8_000 + n, session="now") for n in range(20)]
    async with filled(make_breadcrumb(SERIAL, 2, session="old"), *own) as store:
        markdown = (await page(worker(store))).markdown
    assert all(crumb.text in markdown for crumb in own)
    assert "K-4711" in markdown


async def test_a_worker_that_has_read_much_and_one_that_has_just_begun_build_the_same_page() -> None:
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        old = worker(store)
        await page(old, "Which order went to customer 3?", 5_000)
        await store.remember_all(
            tuple(remembered_of(make_breadcrumb(f"Later order {n}.", n, session="later")) for n in range(9_100, 9_130))
        )
        await page(old, "And the later orders?", 9_500)
        assert await page(old) == await page(worker(store))


async def test_a_page_as_of_an_earlier_place_has_nothing_that_came_later() -> None:
    async with filled(make_breadcrumb(SERIAL, 9_001, session="old")) as store:
        assert "K-4711" not in (await page(worker(store))).markdown
        assert "K-4711" in (await page(worker(store), sequence=9_002)).markdown


async def test_an_edited_message_is_shown_as_it_is_now_however_far_away_its_new_version_is() -> None:
    new = make_breadcrumb("The serial number of the blue kiln is K-5000.", 8_500, id="kiln", version=2, session="old")
    async with filled(make_breadcrumb(SERIAL, 2, id="kiln", session="old"), new) as store:
        markdown = (await page(worker(store))).markdown
    assert "K-5000" in markdown
    assert "K-4711" not in markdown


async def test_what_was_forgotten_is_found_no_more_by_a_worker_that_had_read_it() -> None:
    async with filled(make_breadcrumb(SERIAL, 2, id="kiln", session="old")) as store:
        builder = worker(store)
        assert "K-4711" in (await page(builder)).markdown
        await store.erase("acme", "old", "kiln", FAR)
        assert await page(builder) == await page(worker(store))
        assert "K-4711" not in (await page(builder)).markdown


async def test_a_message_without_a_vector_is_found_by_its_words_and_by_meaning_once_it_has_one() -> None:
    async with filled() as store:
        kiln = remembered_of(make_breadcrumb(SERIAL, 2, session="old"))
        await store.remember(bare(kiln))
        builder = worker(store)
        assert "K-4711" in (await page(builder)).markdown
        assert await store.fill_vectors(kiln)
        assert await page(builder) == await page(worker(store))


async def test_without_an_engine_words_alone_find_it() -> None:
    engine = HashingEmbedder()
    engine.away = True
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        assert "K-4711" in (await page(worker(store, engine))).markdown


@pytest.mark.parametrize("session", ["now", NO_SESSION])
async def test_notes_of_no_session_are_found_and_never_read_whole(session: str) -> None:
    notes = [
        make_breadcrumb(f"Glaze {n} is kept on shelf {n % 9}.", 1_000 + n, session=NO_SESSION, schema="note.v1", role="other")
        for n in range(300)
    ]
    kiln = make_breadcrumb(SERIAL, 2, session=NO_SESSION, schema="note.v1", role="other")
    async with filled(kiln, *notes) as store:
        assert "K-4711" in (await page(worker(store), session=session)).markdown


async def test_a_workspace_is_read_whole_until_it_outgrows_the_limit() -> None:
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        builder = worker(store)
        parts = await view_of(builder, make_breadcrumb(QUESTION, 9_000, session="now"), PROFILE)
        builder.recaller.workspaces.max_rows = MANY + 1
        whole = await view_of(builder, make_breadcrumb(QUESTION, 9_000, session="now"), PROFILE)
    assert parts.size < whole.size == MANY + 1


async def test_a_search_of_the_workspace_reads_it_in_two_stages_too() -> None:
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        question = make_breadcrumb(QUESTION, 9_000, session=NO_SESSION)
        view, finds = await worker(store).search(question, PROFILE, 500)
    assert view.size < MANY
    assert "K-4711" in view.breadcrumb(finds[0].row).text


async def test_a_message_that_is_stored_after_the_page_at_its_place_is_read_by_the_next_page() -> None:
    async with filled() as store:
        old = worker(store)
        await page(old, "What else?", 8_999)
        await store.remember(remembered_of(make_breadcrumb(SERIAL, 8_999, session="old")))
        assert await page(old) == await page(worker(store))
        assert "K-4711" in (await page(old)).markdown


async def test_after_a_read_that_failed_a_worker_builds_the_page_of_one_that_has_just_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with filled(make_breadcrumb(SERIAL, 2, id="kiln", session="old"), make_breadcrumb("Tea.", 3, session="old")) as store:
        old = worker(store)
        await page(old)
        await store.erase("acme", "old", "m3", FAR)
        with monkeypatch.context() as patch:
            patch.setattr(store, "passages", unavailable)
            with pytest.raises(Unavailable):
                await page(old)
        assert await page(old) == await page(worker(store))
        assert "K-4711" in (await page(old)).markdown


async def unavailable(*_: object) -> None:
    raise Unavailable("the store is away")


@pytest.mark.parametrize("apart", [5, 200])
async def test_a_call_and_its_result_are_on_the_page_together_or_not_at_all(apart: int) -> None:
    call = make_question(1_000, "r1", session="old").breadcrumb
    result = replace(make_answer(1_000 + apart, "r1", session="old").breadcrumb, text=SERIAL)
    between = [make_breadcrumb(f"Shelf {n} is dusted.", 1_000 + n, session="old") for n in range(1, apart)]
    profile = replace(PROFILE, retrieval=replace(PROFILE.retrieval, schemas=("tool.response.v1", "user.message.v1")))
    async with filled(call, *between, result) as store:
        view = await view_of(worker(store), make_breadcrumb(QUESTION, 9_000, session="now"), profile)
    ids = {view.breadcrumb(row).id for row in range(view.size)}
    assert (call.id in ids) == (result.id in ids)
    assert apart > 5 or result.id in ids


async def test_the_page_of_a_tools_result_has_what_answers_the_question() -> None:
    said = make_breadcrumb(QUESTION, 8_000, session="now")
    tool = json.dumps({"tool": "kiln.find", "input": {}})
    call = replace(make_question(8_001, "r1", session="now").breadcrumb, call_signatures=(tool,))
    result = make_answer(8_002, "r1", session="now").breadcrumb
    async with filled(make_breadcrumb(SERIAL, 2, session="old"), said, call, result) as store:
        (context,) = (await worker(store).build_contexts(remembered_of(result), (PROFILE,))).contexts
    assert "K-4711" in context.markdown


async def test_all_vectors_that_have_come_are_read_at_once() -> None:
    later = [
        remembered_of(make_breadcrumb(f"Customer {n} wants tea.", 2_000 + n, session=f"tea-{n}")) for n in range(2 * WAITING + 9)
    ]
    async with filled() as store:
        await store.remember_all(tuple(map(bare, later)))
        old = worker(store)
        await page(old)
        for row in later:
            await store.fill_vectors(row)
        assert await page(old, "Who wants tea?", 9_001) == await page(worker(store), "Who wants tea?", 9_001)


async def test_later_messages_change_no_weight_of_a_word() -> None:
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        old = worker(store)
        before = await page(old, "Which order went to customer 3?", 5_000)
        long = " ".join(f"word{n}" for n in range(100))
        await store.remember_all(tuple(make_remembered(f"{long} {n}", 6_000 + n, session="long") for n in range(100)))
        await page(old, sequence=9_000)
        assert await page(old, "Which order went to customer 3?", 5_000) == before


async def test_a_call_whose_other_result_is_far_away_takes_its_near_one_with_it() -> None:
    tool = json.dumps({"tool": "kiln.find", "input": {}})
    call = replace(
        make_question(1_000, "r1", session="old").breadcrumb, calls=("r1", "r2"), call_signatures=(tool, tool), text="Looking."
    )
    near = replace(make_answer(1_001, "r1", session="old").breadcrumb, text=SERIAL)
    far = replace(make_answer(1_200, "r2", session="old").breadcrumb, text="Nothing.", schema="tool.error.v1")
    between = [make_breadcrumb(f"Shelf {n} is dusted.", 1_001 + n, session="old") for n in range(1, 199)]
    profile = replace(PROFILE, retrieval=replace(PROFILE.retrieval, schemas=("tool.response.v1",)))
    async with filled(call, near, *between, far) as store:
        view = await view_of(worker(store), make_breadcrumb("serial number blue kiln", 9_000, session="now"), profile)
    ids = {view.breadcrumb(row).id for row in range(view.size)} & {call.id, near.id, far.id}
    assert ids in (set(), {call.id, near.id, far.id})


async def test_a_read_of_a_workspace_in_which_nothing_was_erased_drops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drops: list[object] = []
    async with filled(make_breadcrumb(SERIAL, 2, session="old")) as store:
        builder = worker(store)
        await page(builder)
        monkeypatch.setattr(Sketches, "drop", lambda *arguments: drops.append(arguments))
        await page(builder)
    assert drops == []
