"""Requests: what is handed out, what is refused with what to do, and what a tombstone does on the way."""

from datetime import timedelta
from typing import Any

import pytest

from builder.domain.breadcrumb import StreamMessage
from builder.domain.context import context_id
from builder.domain.errors import Rejected
from builder.domain.stored import StoredBreadcrumb
from builder.ports.contexts import PublishedEvent
from tests.conversations import chat, deleted, said
from tests.factories import MORNING, make_profile
from tests.hosts import answer, host_of
from tests.ports import FixedConsumers, MemoryPublisher, MemoryStream, make_log
from tests.stores import durable_store

NOW = MORNING + timedelta(hours=1)


class Archive:
    """`PublishedContexts`: (consumer, session, id) → event; "" = the last one."""

    def __init__(self) -> None:
        self.events: dict[tuple[str, str, str], bytes] = {}

    async def last_context(self, workspace: str, consumer: str, session: str) -> PublishedEvent | None:
        return await self.context(workspace, consumer, session, "")

    async def context(self, _workspace: str, consumer: str, session: str, identity: str) -> PublishedEvent | None:
        event = self.events.get((consumer, session, identity))
        return PublishedEvent(event, "") if event else None


class Bench:
    """All handlers over a store in memory."""

    def __init__(self, *messages: StreamMessage) -> None:
        self.store, self.stream, self.published = durable_store(), MemoryStream(messages), Archive()
        log = make_log(self.stream, self.store, now=lambda: NOW)
        consumers = FixedConsumers(make_profile(consumer="a"), make_profile(consumer="b", triggers=("note.v1",)))
        self.host = host_of(log=log, contexts=self.published, publisher=MemoryPublisher(), consumers=consumers)

    async def ask(self, verb: str, **request: object) -> dict[str, Any]:
        return await answer(self.host, verb, request)


async def holding(*rows: StoredBreadcrumb) -> Bench:
    bench = Bench()
    for row in rows:
        await bench.store.remember(row)
    return bench


async def test_fetch_gives_the_newest_version_or_the_one_that_is_named() -> None:
    bench = await holding(said(1, "Old."), said(2, "New.", id="m1", version=2))
    assert (await bench.ask("fetch", id="m1"))["version"] == 2
    assert (await bench.ask("fetch", id="m1", version=1))["version"] == 1


async def test_fetch_names_the_versions_that_there_are() -> None:
    bench = await holding(said(1, "Hello."))
    with pytest.raises(Rejected, match=r"no breadcrumb 'm1' version 7; there is 1"):
        await bench.ask("fetch", id="m1", version=7)


async def test_what_is_deleted_expired_or_unknown_is_never_given() -> None:
    ended = said(3, "Gone.", expires_at=(NOW - timedelta(seconds=1)).isoformat())
    bench = await holding(said(1, "Hello."), deleted(2, "m1"), ended)
    for identity in ("m1", "m3", "m9"):
        with pytest.raises(Rejected, match="deleted and expired ones never are"):
            await bench.ask("fetch", id=identity)
    assert (await bench.ask("history", session="s42"))["breadcrumbs"] == []


async def test_history_goes_through_a_session_page_by_page() -> None:
    bench = await holding(*chat(5), said(90, "Elsewhere.", session="s43"))
    first = await bench.ask("history", session="s42", limit=3)
    second = await bench.ask("history", session="s42", limit=3, after=first["next"])
    assert [row["id"] for row in (*first["breadcrumbs"], *second["breadcrumbs"])] == [f"m{n}" for n in range(1, 6)]
    assert second["next"] is None


async def test_history_from_the_end_begins_with_the_newest() -> None:
    bench = await holding(*chat(5))
    page = await bench.ask("history", session="s42", limit=2, newest=True)
    assert [row["id"] for row in page["breadcrumbs"]] == ["m5", "m4"]
    rest = await bench.ask("history", session="s42", limit=9, newest=True, after=page["next"])
    assert [row["id"] for row in rest["breadcrumbs"]] == ["m3", "m2", "m1"]


async def test_the_context_of_a_trigger_is_found_by_its_id_in_the_triggers_session() -> None:
    bench = await holding(said(1, "Hello."))
    bench.published.events["a", "s42", str(context_id("acme", "s42", "m1", "a"))] = b'{"content": "page"}'
    assert await bench.ask("context", consumer="a", trigger="m1") == {"content": "page"}
    with pytest.raises(Rejected, match="no context of 'b' in session 's42' for trigger 'm1' is kept"):
        await bench.ask("context", consumer="b", trigger="m1")


async def test_without_a_trigger_the_last_context_of_a_session_is_given() -> None:
    bench = await holding()
    bench.published.events["a", "s42", ""] = b'{"content": "last"}'
    assert await bench.ask("context", consumer="a", session="s42") == {"content": "last"}


@pytest.mark.parametrize(
    ("request_", "reason"),
    [({}, "names neither a session nor a trigger"), ({"trigger": "m9"}, "no breadcrumb 'm9'.*name the session")],
)
async def test_a_context_without_a_session_that_can_be_known_is_refused(request_: dict[str, str], reason: str) -> None:
    bench = await holding()
    with pytest.raises(Rejected, match=reason):
        await bench.ask("context", consumer="a", **request_)


async def test_consumers_are_those_of_the_present_profiles() -> None:
    bench = await holding()
    consumers = (await bench.ask("consumers"))["consumers"]
    assert [(each["name"], tuple(each["triggers"])) for each in consumers] == [("a", ("user.message.v1",)), ("b", ("note.v1",))]


@pytest.mark.parametrize(("verb", "more"), [("history", {}), ("context", {"consumer": "a"})])
async def test_a_session_that_cannot_be_a_part_of_a_subject_is_refused(verb: str, more: dict[str, str]) -> None:
    bench = await holding()
    with pytest.raises(Rejected, match="session"):
        await bench.ask(verb, session="s.42", **more)
