"""The client over a real nats-server with a real service, and over the broker in memory: one suite for both."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.client import Client, Rejected, Unavailable
from builder.domain.context import context_id
from tests.clients import history
from tests.commands import DEADLINE
from tests.running import until

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"body": {"content": None}}, "no text: send it as `content`"),
    ({"body": None}, "Input should be a valid dictionary at /context, got null"),
    ({"body": {"content": "x" * 1_100_000}}, "the breadcrumb has 1,1"),
    ({"body": {"content": "x", "n": float("nan")}}, "NaN is not a JSON number"),
    ({"body": {"content": "x", "n": {1, 2}}}, "the user.message.v1 is no JSON: Object of type set"),
    ({"tags": "urgent"}, "tags is a text of 6 characters; give a list"),
    ({"tags": [1]}, "valid string at /tags/0, got a number"),
    ({"created_at": "yesterday"}, "at /created_at, got a text of 9 characters"),
    ({"ttl": -1}, "send a moment with its time zone"),
    ({"ttl": "soon"}, "at /ttl"),
    ({"version": 0}, "greater than or equal to 1 at /version"),
    ({"id": "two words"}, "at /id"),
    ({"user_id": "a\nb"}, "at /user_id"),
    ({"user_id": "u" * 257}, "at most 256 characters at /user_id"),
    ({"session": ""}, "session is an empty text"),
    ({"schema": "note v1"}, "schema name 'note v1' does not fit"),
    ({"body": {"content": "x", "session_id": "other"}}, "session_id is not 's1', which the subject says"),
]
"""What a sender gives beside a good message, and why it is refused."""


async def test_ask_gives_the_context_of_its_own_message(client: Client) -> None:
    contexts = await asyncio.gather(*(client.ask("s1", f"Question {n}?", message_id=f"m{n}", timeout=DEADLINE) for n in range(5)))
    for number, context in enumerate(contexts):
        assert (context.trigger_event_id, context.consumer_id, context.session_id) == (f"m{number}", "default", "s1")
        assert context.id == str(context_id(client.workspace, "s1", f"m{number}", "default"))
        assert f"Question {number}?" in context.content


async def test_ask_takes_nothing_from_an_agent_of_the_same_consumer(client: Client) -> None:
    async with client.subscribed("default") as contexts:
        asked = [await client.ask("s1", text, timeout=DEADLINE) for text in ("One.", "Two.")]
        heard = [await anext(contexts), await anext(contexts)]
    assert [context.event for context in heard] == [context.event for context in asked]


async def test_ask_again_under_the_same_id_gives_the_same_context(client: Client) -> None:
    first = await client.ask("s1", "Hello.", message_id="m1", timeout=DEADLINE)
    assert (await client.ask("s1", "Hello.", message_id="m1", timeout=DEADLINE)).event == first.event
    with pytest.raises(Rejected, match=r"context\.content differ"):
        await client.ask("s1", "Other words.", message_id="m1", timeout=DEADLINE)


@pytest.mark.parametrize(
    ("consumer", "why"),
    [
        ("nosuch", "no profile of the service names the consumer 'nosuch'; known are claude, critic, default, framework, friend"),
        ("silent", "its profile has no triggers; add one"),
        ("urgent", "the audience of its profile leaves this user.message.v1 out"),
        ("a.b", "does not fit a NATS subject"),
    ],
)
async def test_ask_refuses_a_consumer_that_gets_no_context_before_it_sends(client: Client, consumer: str, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        await client.ask("s1", "Hello.", consumer=consumer)
    assert [record async for record in client.history("s1")] == []


async def test_ask_passes_on_all_that_a_message_may_say(client: Client) -> None:
    sent_at = datetime(2026, 7, 1, 0, 30, tzinfo=UTC)
    context = await client.ask(
        "s1", "Hello.", consumer="urgent", tags=["urgent"], user_id="usér 7", speaker="Maya", created_at=sent_at,
        ttl=timedelta(days=9999), timeout=DEADLINE,
    )  # fmt: skip
    (record,) = await history(client, "s1", 1)
    assert record == await client.fetch(context.trigger_event_id)
    assert (record.tags, record.user_id, record.speaker, record.created_at) == (("urgent",), "usér 7", "Maya", sent_at)
    assert record.expires_at == sent_at + timedelta(days=9999)
    assert (record.body, record.sequence) == ({"content": "Hello.", "speaker": "Maya"}, context.trigger_seq)


async def test_ask_that_waits_too_short_is_unavailable_and_may_be_repeated(client: Client) -> None:
    with pytest.raises(Unavailable, match="m1 was sent, and no context for 'default' came within 0 s"):
        await client.ask("s1", "Hello.", message_id="m1", timeout=0)
    assert (await client.ask("s1", "Hello.", message_id="m1", timeout=DEADLINE)).trigger_event_id == "m1"


async def test_a_session_may_have_any_name(client: Client) -> None:
    for session in ("maya@example.com", "a.b", "user:1", "会话", "_x-a_2Eb", "two words", "y" * 300):
        context = await client.ask(session, "Hello.", timeout=DEADLINE)
        await client.send_response(context, "Hello to you.")
        await client.send("note.v1", {"content": "A note.", "session_id": session}, session=session)
        name = session if len(session) < 100 else context.session_token
        assert context.session_id == name
        assert [record.session for record in await history(client, session, 3)] == [name] * 3
        assert (await client.context(session=session)).event == context.event
        assert [receipt.session for receipt in await client.forget(context.trigger_event_id, session=session)] == [name]


async def test_every_schema_is_sent_and_a_next_version_replaces_the_last_one(client: Client) -> None:
    identity = await client.send("note.v1", {"content": "First."}, session="_", tags=("pinned",))
    assert await client.send("note.v1", {"content": "Second."}, session="_", id=identity, version=2) == identity
    await until(lambda: _has_text(client, identity, "Second."), "the second version")
    assert (await client.fetch(identity, 1)).text == "First."


async def _has_text(client: Client, identity: str, text: str) -> bool:
    try:
        return (await client.fetch(identity)).text == text
    except Rejected:
        return False


async def test_what_the_service_would_reject_is_refused_before_it_is_sent(client: Client) -> None:
    for arguments, why in REFUSED:
        complete: dict[str, Any] = {"schema": "user.message.v1", "body": {"content": "x"}, "session": "s1"} | arguments
        with pytest.raises(Rejected, match=why):
            await client.send(**complete)
    await client.send_user_message("s1", "Last.", message_id="last")
    assert [record.id for record in await history(client, "s1", 1)] == ["last"]


async def test_a_first_subscription_hears_what_is_new_and_a_durable_goes_on_where_it_was(client: Client) -> None:
    await client.ask("s1", "Before.", message_id="before", timeout=DEADLINE)
    async with client.subscribed("default") as contexts:
        await client.send_user_message("s1", "First.", message_id="first")
        assert (await anext(contexts)).trigger_event_id == "first"
        await client.send_user_message("s1", "Second.", message_id="second")
        assert (await anext(contexts)).trigger_event_id == "second"  # acknowledges the first one
    await client.ask("s1", "Away.", message_id="away", timeout=DEADLINE)
    beginnings: list[Any] = ["all", timedelta(hours=1), datetime(2026, 1, 1, tzinfo=UTC)]
    for deliver in beginnings:
        async with aclosing(client.contexts("default", durable=None, deliver=deliver)) as old:
            assert [(await anext(old)).trigger_event_id for _ in range(4)] == ["before", "first", "second", "away"]
    async with aclosing(client.contexts("default", durable="another", deliver=timedelta(0))) as fresh:
        waiting = asyncio.ensure_future(anext(fresh))
        await client.ask("s1", "Hello?", message_id="m5", timeout=DEADLINE)
        while not waiting.done():
            await client.ask("s1", "Still there?", timeout=DEADLINE)
        assert (await waiting).trigger_event_id not in {"before", "first", "second", "away"}
    with pytest.raises(Rejected, match="deliver is 'last'"):
        await anext(client.contexts("default", durable=None, deliver="last"))  # type: ignore[arg-type]


async def test_what_is_forgotten_is_gone_with_a_receipt(client: Client) -> None:
    await client.ask("s1", "My PIN is 4711.", message_id="m1", timeout=DEADLINE)
    (receipt,) = await client.forget("m1", by="Maya")
    assert (receipt.id, receipt.workspace, receipt.session, receipt.by) == ("m1", client.workspace, "s1", "Maya")
    assert (receipt.versions, receipt.messages, receipt.dead_letters) == (1, 1, 0)
    assert receipt.contexts >= 1
    assert await client.forget("m1") == ()
    with pytest.raises(Rejected, match="deleted and expired ones never are"):
        await client.fetch("m1")
    with pytest.raises(Rejected, match="no context of 'default' in session 's1'"):
        await client.context(session="s1")
    with pytest.raises(Rejected, match="was deleted since"):
        await client.ask("s1", "My PIN is 4711.", message_id="m1", timeout=DEADLINE)


async def test_look_ups_of_what_is_not_there_are_refused(client: Client) -> None:
    assert [record async for record in client.history("empty")] == []
    for question in (
        client.fetch("none"),
        client.context(session="none"),
        client.forget("none"),
        client.compact("s", profile="?"),
    ):
        with pytest.raises(Rejected):
            await question


async def test_a_session_is_compacted_with_a_report(client: Client) -> None:
    for number in range(24):
        await client.send_user_message(
            "s1", f"Crate {number} holds cobalt glaze. {'It was counted twice. ' * 200 * (not number)}"
        )
    await history(client, "s1", 24)
    report = await client.compact("s1", keep_user=False)
    assert (report.units, report.covered, report.reason) == (4, 4, "")
    assert (await client.fetch(report.summary)).schema == "summary.v1"


async def test_consumers_tell_their_triggers(client: Client) -> None:
    consumers = {each.name: each for each in await client.consumers()}
    assert consumers["loop"].triggers == ("user.message.v1", "tool.response.v1")
    assert consumers["urgent"].audience is not None
    assert await client.check_consumer("default") == ""


async def test_each_context_names_the_one_that_it_supersedes_and_a_client_may_skip_that(client: Client) -> None:
    first = await client.ask("s1", "Book the blue kiln.", message_id="m1", user_id="ada", timeout=DEADLINE)
    second = await client.ask("s1", "Wait.", message_id="m2", user_id="ada", timeout=DEADLINE)
    other = await client.ask("s1", "And the oven.", message_id="m3", user_id="bob", timeout=DEADLINE)
    third = await client.ask("s1", "I meant the red one.", message_id="m4", user_id="ada", timeout=DEADLINE)
    assert [context.supersedes for context in (first, second, other, third)] == ["", first.id, "", second.id]
    # `ask` hears a page from the broker before the broker has stored it.
    await until(lambda: client.is_superseded(second), "the third page is stored")
    assert await client.is_superseded(first)
    assert not await client.is_superseded(third)
    async with aclosing(client.contexts("default", durable=None, deliver="all", skip_superseded=True)) as contexts:
        assert [(await anext(contexts)).trigger_event_id for _ in range(2)] == ["m3", "m4"]
    await client.send_response(third, "The red kiln is booked.")
    assert (await client.ask("s1", "Thanks, and the clay?", user_id="ada", timeout=DEADLINE)).supersedes == ""


async def test_with_a_quiet_time_only_the_last_of_several_messages_in_a_row_is_answered(client: Client) -> None:
    async with client.subscribed("patient") as contexts:
        for number, text in enumerate(("Book the kiln.", "No, wait.", "The red one!"), 1):
            await client.send_user_message("s1", text, message_id=f"m{number}", user_id="ada")
        context = await anext(contexts)
        assert (context.trigger_event_id, context.supersedes) == ("m3", "")
        assert "Book the kiln." in context.content
        await client.send_user_message("s2", "Hello.", message_id="other")
        assert (await anext(contexts)).trigger_event_id == "other"


async def test_what_comes_within_the_quiet_time_is_on_the_page_and_a_replay_gives_the_same_bytes(client: Client) -> None:
    async with client.subscribed("patient") as contexts:
        await client.send_user_message("s1", "Book the blue room.", message_id="m1", user_id="ada")
        body = {"content": "Book the RED room."}
        await client.send("user.message.v1", body, session="s1", id="m1", version=2, user_id="ada")
        context = await anext(contexts)
    assert "Book the RED room." in context.content
    assert "blue" not in context.content
    assert context.event["assembly"]["as_of"] == context.event["trigger_seq"] + 1
    assert not context.event.get("refreshed")
    replay = await client.request("replay", {"trigger": "m1", "consumer": "patient", "session": "s1"})
    assert replay["before"] == replay["after"]


async def test_a_person_is_remembered_in_another_session_and_forgotten_as_a_whole(client: Client) -> None:
    await client.send_user_message("mon", "I am allergic to peanuts.", message_id="a1", user_id="ada@example.com")
    await client.send_user_message("bobs", "My peanuts PIN is 4711.", message_id="b1", user_id="bob")
    await client.send_user_message("diary", "Peanuts frighten me.", message_id="a2", user_id="ada@example.com", memory=False)
    question = "Which snacks with peanuts may I have?"
    context = await client.ask("tue", question, message_id="a3", consumer="friend", user_id="ada@example.com", timeout=DEADLINE)
    assert "allergic" in context.content
    assert "4711" not in context.content
    assert "frighten" not in context.content
    known = [record.id async for record in client.history(user_id="ada@example.com")]
    assert known == ["a1", "a2", "a3"]
    steps: list[tuple[int, int]] = []
    receipt = await client.forget_person(
        "ada@example.com", by="Eve", progress=lambda number, total: steps.append((number, total))
    )
    assert (receipt.sessions, len(receipt.receipts), steps[-1]) == (("diary", "mon", "tue"), 3, (3, 3))
    assert {each.by for each in receipt.receipts} == {"Eve"}
    assert [record.id async for record in client.history(user_id="ada@example.com")] == []
    assert (await client.forget_person("ada@example.com")).receipts == ()
