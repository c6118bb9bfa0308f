"""Summaries beside the worker: one a batch, whoever makes it and however often it dies, and never before it is stored."""

import asyncio
import json
from dataclasses import replace

import pytest

from builder.domain.breadcrumb import Place, StreamMessage
from builder.domain.context import Context
from builder.domain.errors import Unavailable
from builder.recall.summaries.recipes import recipe_of
from tests.commands import DEADLINE
from tests.factories import make_breadcrumb, make_place, make_profile, make_tombstone
from tests.ports import run_job
from tests.summarised import (
    BEHIND,
    Publishing,
    chain,
    lines,
    look_once,
    make_summarising,
    page,
    remember,
    summary,
    summing,
    talking,
)


async def test_the_oldest_batches_are_summarised_until_no_more_than_the_threshold_wait() -> None:
    builder, profile = await talking(20)
    publishing = await look_once(builder, profile, 20)
    assert [crumb.covers for crumb in publishing.out] == [
        tuple(f"m{n}" for n in range(start, start + 3)) for start in (1, 4, 7, 10, 13)
    ]
    assert [json.loads(crumb.body)["previous"] for crumb in publishing.out] == ["", *(crumb.id for crumb in publishing.out[:-1])]
    assert await chain(builder, profile) == tuple(f"m{n}" for n in range(1, 16))


async def test_the_summary_keeps_facts_with_their_speaker_and_leaves_out_thanks_and_questions() -> None:
    builder, profile = await talking(20)
    publishing = await look_once(builder, profile, 20)
    kept = [line["text"] for line in lines(publishing.out[-1])]
    assert "User: Nina fires it at cone 6 on Friday." in kept
    assert not [text for text in kept if "Thanks" in text or "?" in text]


async def test_the_page_shows_the_summary_once_it_is_stored_and_as_of_its_place() -> None:
    builder, profile = await talking(20)
    publishing = await look_once(builder, profile, 20, remembering=False)
    assert "## Earlier in this conversation" not in await summary(builder, profile)
    await remember(builder, publishing.out)
    assert "## Earlier in this conversation\n- [8 May 2024] User: " in await summary(builder, profile)
    assert "## Earlier in this conversation" not in await summary(builder, profile, sequence=999)
    assert "## Earlier in this conversation" not in await summary(builder, make_profile(summaries=None))


async def test_a_page_that_shows_the_whole_conversation_has_no_summary_of_it() -> None:
    builder, profile = await talking(20)
    await look_once(builder, profile, 20)
    assert "## Earlier in this conversation" not in await page(builder, profile)


async def test_of_two_summaries_that_follow_the_same_one_the_first_stands() -> None:
    builder, profile = await talking(7, keep=0)
    theirs, ours = (Publishing(builder, make_place(first), remembering=False) for first in (1000, 1100))
    await look_once(builder, profile, 7, theirs)
    await remember(builder, [make_breadcrumb("Edited.", 8, id="m1", version=2), make_breadcrumb("One more.", 9)])
    await look_once(builder, profile, 9, ours)
    assert theirs.out[0].id != ours.out[0].id
    await remember(builder, [*theirs.out, *ours.out])
    assert await chain(builder, profile) == ("m1", "m2", "m3")


async def test_a_line_whose_source_is_deleted_or_edited_is_shown_no_more_and_says_the_new_words_in_the_next_summary() -> None:
    builder, profile = await talking(20, cap=200)
    publishing = Publishing(builder, BEHIND)
    loop = make_summarising(builder, publishing, profile)
    await loop.look("acme", "s42", make_place(20))
    assert "K-4711" in await summary(builder, profile)
    sources = [line["ids"][0] for line in lines(publishing.out[-1]) if "K-4711" in line["text"] or "cone 6" in line["text"]]
    await builder.remember(make_tombstone(sources[0], 1200).breadcrumb)
    await builder.remember(make_breadcrumb("Nina fires it on Monday.", id=sources[1], version=2, place=make_place(1201)))
    head = await summary(builder, profile)
    assert "K-4711" not in head
    assert "cone 6" not in head
    await remember(builder, [make_breadcrumb(f"Remark {n}.", n) for n in range(1210, 1216)])
    await loop.look("acme", "s42", make_place(1215))
    (line,) = (line for line in lines(publishing.out[-1]) if set(line["ids"]) & set(sources))
    assert (line["text"], line["versions"]) == ("User: Nina fires it on Monday.", [2])


async def test_profiles_with_equal_settings_share_their_summaries_and_others_do_not() -> None:
    one, same, other = (recipe_of(replace(summing(cap=cap), consumer=name)) for cap, name in ((60, "a"), (60, "b"), (80, "c")))
    assert one is not None
    assert other is not None
    assert one == same
    assert one.name != other.name
    assert recipe_of(make_profile(summaries=None)) is None
    assert recipe_of(replace(summing(), scope_to_task=True)) is None


async def test_the_loop_looks_only_at_sessions_that_may_have_grown_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    builder, profile = await talking(20)
    publishing = Publishing(builder, BEHIND)
    loop = make_summarising(builder, publishing, profile)
    looked: list[Place] = []
    real = loop.look

    async def look(workspace: str, session: str, place: Place) -> None:
        await real(workspace, session, place)
        looked.append(place)

    monkeypatch.setattr(loop, "look", look)
    task = asyncio.create_task(run_job("summarising", loop.run_once))
    async with asyncio.timeout(DEADLINE):
        loop.note("acme", "s42", make_place(20))
        while not looked:
            await asyncio.sleep(0)
        loop.note("acme", "s42", make_place(20))
        loop.note("acme", "_", make_place(21))
        loop.note("acme", "s42", make_place(22))
        while len(looked) < 2:
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert looked == [make_place(20), make_place(22)]


async def test_without_summaries_in_any_profile_no_session_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    builder, _ = await talking(20)
    loop = make_summarising(builder, Publishing(builder, BEHIND), make_profile(summaries=None))
    looked: list[Place] = []

    async def look(_workspace: str, _session: str, place: Place) -> None:
        looked.append(place)

    monkeypatch.setattr(loop, "look", look)
    loop.note("acme", "s42", make_place(20))
    task = asyncio.create_task(loop.run_once())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
    await asyncio.wait({task})
    assert looked == []


async def test_a_session_is_looked_at_again_after_the_broker_was_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    builder, profile = await talking(8)
    publishing = Publishing(builder, BEHIND)
    troubles: list[Exception] = [Unavailable("the broker is away"), Unavailable("the broker is away")]
    real = publishing.send

    async def send(subject: str, data: bytes, message_id: str) -> StreamMessage:
        if troubles:
            raise troubles.pop(0)
        return await real(subject, data, message_id)

    monkeypatch.setattr(publishing, "send", send)
    loop = make_summarising(builder, publishing, profile)
    task = asyncio.create_task(run_job("summarising", loop.run_once))
    async with asyncio.timeout(DEADLINE):
        loop.note("acme", "s42", make_place(8))
        while not publishing.out:
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert troubles == []
    assert caplog.text.count("the broker is away") == 1, "one warning a minute"


async def test_a_session_whose_summary_is_too_large_is_looked_at_again_only_after_many_messages(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    builder, profile = await talking(8)
    loop = make_summarising(builder, Publishing(builder, BEHIND), profile, max_bytes=10, max_units=5)
    looked: list[Place] = []
    real = loop.look

    async def look(workspace: str, session: str, place: Place) -> None:
        looked.append(place)
        await real(workspace, session, place)

    monkeypatch.setattr(loop, "look", look)
    task = asyncio.create_task(run_job("summarising", loop.run_once))
    async with asyncio.timeout(DEADLINE):
        loop.note("acme", "s42", make_place(8))
        while "is not summarised" not in caplog.text:
            await asyncio.sleep(0)
        for n in range(9, 14):
            assert looked == [make_place(8)]
            loop.note("acme", "s42", make_place(n))
            await asyncio.sleep(0.02)
        while len(looked) < 2:
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait({task})
    assert looked == [make_place(8), make_place(13)]
    assert caplog.text.count("is not summarised") == 1
    assert "a bug" not in caplog.text


async def test_a_summary_is_no_unit_and_is_never_found() -> None:
    builder, profile = await talking(20)
    before = (await builder.recaller.session_view("acme", "s42", make_place(999))).units
    await look_once(builder, profile, 20)
    view = await builder.recaller.session_view("acme", "s42", make_place(1900))
    assert view.units == before
    assert view.passages == (await builder.recaller.session_view("acme", "s42", make_place(999))).passages


async def test_what_the_hot_window_tells_is_not_told_twice() -> None:
    builder, profile = await talking(8, keep=0, max_pending=1, batch=10)
    await look_once(builder, profile, 8)
    context: Context
    trigger = make_breadcrumb("And what now?", 1500)
    (context,) = (await builder.build_contexts(await builder.ingest.facts(trigger), (profile,))).contexts
    assert "## Earlier in this conversation" not in context.markdown
    assert context.markdown.count("K-4711") == 1
