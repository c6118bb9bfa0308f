"""An RCRT deployment gets clean contexts from `context-builder rcrt`, and nothing of it has to change."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.nats.topology import Topology, ensure_streams
from builder.connection.names import DEFAULT
from builder.extras.rcrt.bridge import publisher
from builder.extras.rcrt.intake import Intake
from builder.extras.rcrt.ledger import Ledger
from builder.extras.rcrt.rest import RcrtApi
from tests.rcrt import CHAT, CHAT_AGENT, OTHER_OWNER, OWNER, Bridge, RcrtServer, user_text, viewer_sections
from tests.rcrt_server import BUILDER
from tests.running import Broker, answered, dead_letters, jetstream, until, wait_for

BLACKLIST = [{"schema_name": name, "reason": "noise"} for name in ("tool.response.v1", "tool.request.v1", "system.metric.v1")]


@pytest.fixture(scope="module")
def server(folder: Path, broker: Broker) -> Iterator[RcrtServer]:
    """RCRT's server, with a deployment's records."""
    with RcrtServer(folder / "rcrt", broker) as running:
        running.create("agent.def.v1", CHAT_AGENT, "agent:def", "workspace:agents", "chat:default")
        running.create("agent.def.v1", CHAT_AGENT, "agent:def", "workspace:agents", owner=OTHER_OWNER)
        running.create("context.blacklist.v1", {"excluded_schemas": BLACKLIST, "notes": "bootstrap"}, "context:config")
        running.say("The blue kiln stands in the cellar.", "before")
        yield running


@pytest.fixture(scope="module")
def bridge(folder: Path, broker: Broker, server: RcrtServer) -> Iterator[Bridge]:
    """Our service in the place of its context builder."""
    with Bridge(folder / "bridge", broker, server) as running:
        yield running.joined()


def context_of(server: RcrtServer, trigger: str, consumer: str = CHAT) -> dict[str, Any]:
    """The context record that this trigger led to."""
    wait_for(lambda: [each for each in _of(server, trigger) if each["context"]["consumer_id"] == consumer], "the context")
    (record,) = (each for each in _of(server, trigger) if each["context"]["consumer_id"] == consumer)
    return record


def _of(server: RcrtServer, trigger: str) -> list[dict[str, Any]]:
    return [each for each in server.contexts() if each["context"]["trigger_event_id"] == trigger]


def test_a_message_gets_one_context_that_both_runners_and_the_viewer_read(server: RcrtServer, bridge: Bridge) -> None:
    record = context_of(server, server.say("Where is the blue kiln?", "before"))
    assert record["tags"] == ["agent:context", f"consumer:{CHAT}", "session:before", "extension:chat"]
    page = user_text(record)
    assert "The blue kiln stands in the cellar." in page
    assert page.rstrip().endswith("Where is the blue kiln?")
    assert "{" not in page
    assert viewer_sections(record)[-1] == "CURRENT USER MESSAGE"
    assert bridge.running


@pytest.mark.usefixtures("bridge")
def test_what_was_said_before_the_bridge_came_is_not_answered(server: RcrtServer) -> None:
    context_of(server, server.say("One more.", "before"))
    triggers = {write["context"]["trigger_event_id"] for write in server.counts()["writes"]}
    said = [server.request("GET", f"/breadcrumbs/{trigger}/full")["context"]["content"] for trigger in triggers]
    assert "The blue kiln stands in the cellar." not in said


@pytest.mark.usefixtures("bridge")
def test_the_second_message_of_a_session_replaces_its_context_under_the_next_version(server: RcrtServer) -> None:
    first = context_of(server, server.say("Which cone does stoneware take?", "cones"))
    server.answer("Cone 6 or cone 10.", "cones")
    second = context_of(server, server.say("And porcelain?", "cones"))
    assert (second["id"], second["version"]) == (first["id"], 2)
    assert "Cone 6 or cone 10." in user_text(second)
    stored = server.request("GET", f"/breadcrumbs/{second['id']}/full")
    assert stored["ttl"] > stored["updated_at"]


@pytest.mark.usefixtures("bridge")
async def test_a_record_is_in_once_by_id_and_version_though_it_is_announced_twice(server: RcrtServer, broker: Broker) -> None:
    trigger = server.say("Only once, please.", "once")
    context_of(server, trigger)
    server.request("POST", f"/breadcrumbs/{trigger}/tags/add", {"tags": ["important"]})
    last = server.say("Behind it.", "once")
    context_of(server, last)
    async with jetstream(broker.url) as js:
        subject = f"breadcrumbs.{OWNER}.once.user.message.v1"
        info = await js.stream_info("BREADCRUMBS", subjects_filter=subject)
        assert info.state.subjects == {subject: 3}, "two messages, and the second version of the first one"
        assert len(await answered(js, session="once")) == 2
        assert await dead_letters(js) == []
    writes = Counter(write["context"]["trigger_event_id"] for write in server.counts()["writes"])
    assert writes[trigger] == writes[last] == 1


@pytest.mark.usefixtures("bridge")
def test_a_tool_result_without_a_session_is_on_the_page_of_its_call_though_the_blacklist_names_it(server: RcrtServer) -> None:
    server.say("How much is 3 times 14?", "sums")
    call = {"tool": "calculator", "input": {"expression": "3*14"}, "requestId": "req-314"}
    server.answer("Let me calculate.", "sums", tool_requests=[call])
    result = {"tool": "calculator", "status": "success", "output": {"result": 42}, "request_id": "req-314", "requestedBy": CHAT}
    server.create("tool.response.v1", result, "workspace:tools", "tool:response", "request:req-314")
    page = user_text(context_of(server, server.say("And half of it?", "sums")))
    assert "42" in page
    assert "calculator" in page


@pytest.mark.usefixtures("bridge")
def test_messages_of_no_session_share_nothing_and_write_no_empty_tag(server: RcrtServer) -> None:
    first = server.create("user.message.v1", {"content": "My code is 4711."}, "user:message")
    second = server.create("user.message.v1", {"message": "What is my code?"}, "user:message")
    pages = [context_of(server, each) for each in (first, second)]
    assert pages[0]["id"] != pages[1]["id"]
    assert "4711" not in user_text(pages[1])
    assert [tag for page in pages for tag in page["tags"] if tag in {"", "session:"}] == []


@pytest.mark.usefixtures("bridge")
def test_an_older_extension_names_the_session_in_the_body(server: RcrtServer) -> None:
    said = {"content": "The glaze is celadon.", "conversation_id": "c7"}
    server.create("user.message.v1", said, "user:message")
    asked = server.create("user.message.v1", {"content": "Which glaze?", "conversation_id": "c7"}, "user:message")
    assert "celadon" in user_text(context_of(server, asked))


@pytest.mark.usefixtures("bridge")
def test_owners_with_a_session_of_one_name_have_their_own_contexts(server: RcrtServer) -> None:
    ours = context_of(server, server.say("Our key lies in the drawer.", "shared"))
    theirs = server.create(
        "user.message.v1", {"content": "Where is the key?"}, "user:message", "session:shared", owner=OTHER_OWNER
    )
    record = context_of(server, theirs)
    assert record["id"] != ours["id"]
    assert "drawer" not in user_text(record)
    assert server.request("GET", f"/breadcrumbs/{record['id']}/full", owner=OTHER_OWNER)["owner_id"] == OTHER_OWNER


@pytest.mark.usefixtures("bridge")
async def test_nothing_of_a_secret_is_kept_anywhere(server: RcrtServer, broker: Broker, folder: Path) -> None:
    server.create("secret.v1", {"value": "hunter2-of-the-schema"}, "session:vault")
    server.create("note.v1", {"content": "hunter2-of-the-mark"}, "session:vault", sensitivity="secret")
    marked_later = server.say("The vault opens with hunter2-of-the-edit.", "vault")
    assert "hunter2" in user_text(context_of(server, server.say("What opens the vault, you said?", "vault")))
    server.request("PATCH", f"/breadcrumbs/{marked_later}", {"sensitivity": "secret"})
    page = user_text(context_of(server, server.say("What is the celadon password?", "vault")))
    assert "hunter2" not in page
    async with jetstream(broker.url) as js:

        async def is_empty() -> bool:
            return (await js.stream_info("RCRT_BREADCRUMBS")).state.messages == 0

        await until(is_empty, "the announcements to be acknowledged")
    kept = b"".join(file.read_bytes() for file in (folder / "bridge").glob("store*"))
    assert b"celadon" in kept
    assert b"hunter2-of-the-schema" not in kept
    assert b"hunter2-of-the-mark" not in kept
    assert "hunter2" not in str(server.contexts())


@pytest.mark.usefixtures("bridge")
def test_hints_of_records_render_as_there_and_a_template_that_cannot_be_converted_falls_back(
    server: RcrtServer, bridge: Bridge
) -> None:
    catalog = {"tools": [{"name": "kiln-log", "category": "kilns", "description": 'Reads "firings" & faults'}], "activeTools": 1}
    each = "- {{this.name}} ({{this.category}}): {{this.description}}"
    lines = f"{{{{context.activeTools}}}} tools available:\n{{{{#each context.tools}}}}{each}\n{{{{/each}}}}"
    hints = {"transform": {"tool_list": {"type": "template", "template": lines}}, "mode": "replace"}
    server.create("tool.catalog.v1", catalog, "workspace:tools", "tool:catalog", llm_hints=hints)
    broken = {"transform": {"line": {"type": "template", "template": "{{> partial}}"}}}
    server.create("user.message.v1", {"content": "I fire at dawn."}, "user:message", "session:hints", llm_hints=broken)
    page = user_text(context_of(server, server.say("When do I fire?", "hints")))
    assert "1 tools available" in page
    assert 'kiln-log (kilns): Reads "firings" & faults' in page
    assert "I fire at dawn." in page
    assert bridge.said().count("{{> partial}} is not converted") == 1


@pytest.mark.usefixtures("bridge")
def test_a_record_that_moves_to_another_session_leaves_the_first_one(server: RcrtServer) -> None:
    moved = server.say("The shard lies under the wheel.", "cellar")
    context_of(server, moved)
    tags = ["user:message", "session:attic"]
    server.request("PATCH", f"/breadcrumbs/{moved}", {"tags": tags, "context": {"content": "The shard lies under the wheel."}})
    assert "shard" in user_text(context_of(server, server.say("Where is it?", "attic")))
    assert "shard" not in user_text(context_of(server, server.say("Where is it?", "cellar")))


@pytest.mark.usefixtures("bridge")
def test_records_of_other_types_than_rcrts_stop_nobody(server: RcrtServer, bridge: Bridge) -> None:
    server.create("context.blacklist.v1", {"excluded_schemas": ["x", 7]}, "context:config")
    agent = {"agent_id": "odd", "subscriptions": {"selectors": [{"schema_name": "agent.context.v1", "any_tags": True}]}}
    odd = server.create("agent.def.v1", agent, "workspace:agents")
    server.create("user.message.v1", ["no", "object"], "user:message", "session:odd")
    assert user_text(context_of(server, server.say("And this?", "odd"))).rstrip().endswith("And this?")
    wait_for(lambda: f"record {odd} is left out: its fields have other types" in bridge.said(), "the odd agent in the log")


@pytest.mark.usefixtures("bridge")
def test_an_agent_of_the_older_line_gets_the_contexts_that_it_waits_for(server: RcrtServer) -> None:
    waits = {"schema_name": "agent.context.v1", "all_tags": ["consumer:old-chat"], "role": "trigger"}
    body = {"agent_id": "old-chat", "system_prompt": "You are older.", "subscriptions": {"selectors": [waits]}}
    server.create("agent.def.v1", body, "agent:def", "workspace:agents")
    wait_for(
        lambda: _of_consumer(server, "old-chat", server.say("Hello, are you there?", "old")), "a context for the older agent"
    )


def _of_consumer(server: RcrtServer, consumer: str, trigger: str) -> bool:
    context_of(server, trigger)
    return any(each["context"]["consumer_id"] == consumer for each in server.contexts())


@pytest.mark.usefixtures("bridge")
def test_the_dashboards_editor_works_on_us(server: RcrtServer) -> None:
    config = {
        "consumer_id": "editor",
        "consumer_type": "agent",
        "sources": [{"schema_name": "user.message.v1", "method": "recent", "limit": 2}],
        "update_triggers": [{"schema_name": "user.message.v1", "any_tags": ["for:editor"]}],
        "formatting": {"max_tokens": 700, "deduplication_threshold": 0.95},
    }
    server.create("context.config.v1", config, "context:config", "consumer:editor", "ui:editable")
    record = context_of(server, server.say("Edit me.", "edited", "for:editor"), "editor")
    assert record["context"]["token_budget"] == 700


def test_a_record_that_cannot_be_read_or_is_too_large_stops_nobody_else_and_is_told(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker", max_payload="64KB") as broker, RcrtServer(tmp_path / "rcrt", broker) as server:
        server.create("agent.def.v1", CHAT_AGENT, "agent:def", "workspace:agents")
        with Bridge(tmp_path / "bridge", broker, server) as bridge:
            bridge.joined()
            large = server.create("note.v1", {"content": "kiln " * 20_000}, "note")
            damaged = server.say("Nobody will read this.", "damaged")
            server.fail(unreadable=damaged)
            page = user_text(context_of(server, server.say("Is anybody there?", "beside")))
            assert page.rstrip().endswith("Is anybody there?")
            wait_for(lambda: f"record {large} is left out: it has" in bridge.said(), "the large record in the log")
            assert "raise max_payload there" in bridge.said()
            server.fail(unreadable="")
            assert user_text(context_of(server, damaged)).rstrip().endswith("Nobody will read this.")


async def test_a_listing_finds_what_nobody_announced_updates_and_deletions_too(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, RcrtServer(tmp_path / "rcrt", broker) as server:
        async with jetstream(broker.url) as js, RcrtApi(server.url, OWNER, BUILDER) as api:
            await ensure_streams(js, Topology())
            ledger = Ledger(js, DEFAULT, 1)
            assert await ledger.ensure()
            intake = Intake(api, ledger, publisher(js._nc, DEFAULT), lambda _change: None)

            async def listed() -> list[tuple[str, int]]:
                await intake.catch_up(whole=True)
                state = (await js.stream_info("BREADCRUMBS")).state
                found = [await js.get_msg("BREADCRUMBS", number) for number in range(state.first_seq, state.last_seq + 1)]
                records = [((each.subject or "").split(".", 3)[3], json.loads(each.data or b"")["version"]) for each in found]
                await js.purge_stream("BREADCRUMBS")
                return records

            notes = [server.create("note.v1", {"content": f"Kiln {number}"}, "note") for number in range(450)]
            assert await listed() == [("note.v1", 1)] * 450
            assert await listed() == []
            server.request("PATCH", f"/breadcrumbs/{notes[7]}", {"context": {"content": "Kiln 7 is cold."}})
            assert await listed() == [("note.v1", 2)]
            server.request("DELETE", f"/breadcrumbs/{notes[300]}")
            assert await listed() == [("breadcrumb.deleted.v1", 1)]
            assert await listed() == []
