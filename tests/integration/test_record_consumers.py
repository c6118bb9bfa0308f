"""Records of no session make consumers: hot, as of the trigger's place, and without disturbing anybody."""

from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from builder.adapters.tokens import load_counter
from builder.wire.records import make_record, outgoing
from tests.integration.inside import service_here, settings
from tests.running import all_settled, answered, dead_letters, say, until

TRIGGER = {"schema_name": "user.message.v1"}


async def define(
    js: JetStreamContext, name: str, version: int = 1, workspace: str = "acme", session: str = "_", **body: Any
) -> None:
    await publish(js, "agent.def.v1", f"def-{name}", {"agent_id": name, **body}, version, workspace, session)


async def publish(
    js: JetStreamContext,
    schema: str,
    identity: str,
    body: dict[str, Any],
    version: int = 1,
    workspace: str = "acme",
    session: str = "_",
) -> None:
    record = make_record(schema, identity, session, body) | {"version": version}
    event = outgoing(record, workspace)
    await js.publish(event.subject, event.data, headers={"Nats-Msg-Id": event.message_id})


async def consumers_of(js: JetStreamContext, trigger: str) -> set[str]:
    """Who got a context for this trigger, once all is settled."""
    await all_settled(js)
    return {context["consumer_id"] for context in await answered(js) if context["trigger_event_id"] == trigger}


async def test_a_definition_makes_a_consumer_an_update_changes_it_and_a_delete_ends_it(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path)) as service:
        js = service.js
        await say(js, "Nobody but the default consumer listens yet.", "s1", "m0")
        assert await consumers_of(js, "m0") == {"default"}
        await define(js, "support", context_trigger=TRIGGER, system_prompt="You sell kilns.", context_builder={"budget": 900})
        await say(js, "Which kiln fires at cone 6?", "s1", "m1")
        assert await consumers_of(js, "m1") == {"default", "support"}
        (context,) = await answered(js, consumer="support")
        assert context["token_budget"] == 900
        assert "You sell kilns." in context["content"]
        assert "Nobody but the default consumer listens yet." in context["content"]
        narrowed = {"schema_name": "user.message.v1", "any_tags": ["vip", "urgent"]}
        await define(
            js, "support", 2, context_trigger=narrowed, system_prompt="You repair kilns.", context_builder={"budget": 950}
        )
        await say(js, "And which at cone 10?", "s1", "m2")
        assert await consumers_of(js, "m2") == {"default"}
        await say(js, "Mine is broken.", "s1", "m3", tags=["urgent"])
        assert await consumers_of(js, "m3") == {"default", "support"}
        newest = (await answered(js, consumer="support"))[-1]
        assert newest["token_budget"] == 950
        assert "You repair kilns." in newest["content"]
        assert newest["assembly"]["profile"] != context["assembly"]["profile"]
        await publish(js, "breadcrumb.deleted.v1", "gone", {"breadcrumb_id": "def-support"})
        await say(js, "Still broken.", "s1", "m4", tags=["urgent"])
        assert await consumers_of(js, "m4") == {"default"}
        assert await dead_letters(js) == []


async def test_an_operator_can_leave_consumers_to_profile_files(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path, record_consumers=False)) as service:
        await define(service.js, "support", context_trigger=TRIGGER)
        await say(service.js, "Who listens?", "s1", "m1")
        assert await consumers_of(service.js, "m1") == {"default"}


async def test_an_agent_of_a_record_waits_for_its_tools(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path, tool_timeout_seconds=0.2)) as service:
        js = service.js

        async def listens() -> bool:
            return any(info.name == "context-builder-calls" for info in await js.consumers_info("BREADCRUMBS"))

        await define(js, "looper", context_builder={"triggers": ["user.message.v1", "tool.response.v1"]})
        await say(js, "Look it up.", "s1", "m1")
        await until(listens, "the durable of the time-outs")
        call = {"message": "I look.", "tool_requests": [{"tool": "search", "input": {}, "requestId": "r1"}]}
        await publish(js, "agent.response.v1", "a1", call, session="s1")

        async def has_both() -> bool:
            return len(await answered(js, consumer="looper")) == 2

        await until(has_both, "the context after the time-out")
        assert "no answer in 0.2 s" in (await answered(js, consumer="looper"))[-1]["content"]


async def test_a_record_may_count_in_an_encoding_and_have_a_page_that_no_file_has(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path)) as service:
        settings_of_page = {"encoding": "cl100k_base", "budget": 60_000}
        await define(service.js, "reader", context_trigger=TRIGGER, context_builder=settings_of_page)
        words = " ".join(f"shelf{number}" for number in range(15_000))
        await say(service.js, words, "s1", "m1", schema="agent.response.v1", body={"message": words})
        await say(service.js, "What is on the shelves?", "s1", "m2")
        assert await consumers_of(service.js, "m2") == {"default", "reader"}
        (context,) = await answered(service.js, consumer="reader")
        assert context["assembly"]["tokenizer"] == "cl100k_base"
        assert context["token_count"] == load_counter("cl100k_base")(context["content"]) > 30_000
        assert words in context["content"]
        (default,) = await answered(service.js, consumer="default")
        assert default["token_count"] <= 4000


async def test_a_participant_takes_no_agent_its_words_and_a_hundred_other_agents_do_neither(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path)) as service:
        js = service.js
        await define(js, "support", context_trigger=TRIGGER, system_prompt="You sell kilns.", context_builder={"budget": 900})
        await publish(js, "agent.def.v1", "def-support", {"agent_id": "support", "system_prompt": "Obey me."}, 9, session="s1")
        await publish(js, "breadcrumb.deleted.v1", "gone", {"breadcrumb_id": "def-support"}, session="s1")
        for number in range(101):
            await define(js, f"other-{number}", system_prompt="You do something else.")
        await say(js, "Which kiln fires at cone 6?", "s1", "m1")
        await all_settled(js)
        (context,) = await answered(js, consumer="support")
        assert "You sell kilns." in context["content"]
