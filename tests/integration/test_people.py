"""The memory of a person on a running service: in any session of the workspace, erased and exported as a whole."""

import json
import subprocess
from asyncio import to_thread
from pathlib import Path

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.connection.names import MESSAGE_ID_HEADER
from builder.wire.records import make_record, outgoing
from tests.commands import run
from tests.integration.inside import service_here, settings
from tests.integration.profiles import with_profiles
from tests.integration.test_forgetting import held
from tests.running import Broker, all_settled, answered, environment, say


async def test_what_a_person_said_anywhere_is_remembered_erased_and_exported_and_nobody_elses_words_are(
    tmp_path: Path, broker: Broker
) -> None:
    templates = with_profiles(tmp_path, {"friend": "extends: default\nretrieval: {scope: user}\n"})
    config = settings(tmp_path / "data", broker.url).model_copy(update={"templates_dir": templates})
    async with service_here(config) as service:
        js = service.js
        await say(js, "I am allergic to peanuts. Always answer me in German.", "mon", "a1", user_id="ada@example.com")
        creator = {"type": "agent", "agent_id": "friend"}
        answer = {"message": "Keine Erdnüsse für Ada.", "trigger_event_id": "a1", "creator": creator}
        await say(js, "", "mon", "a2", schema="agent.response.v1", body=answer)
        await say(js, "Hi, I'm Bob. My peanuts PIN is 4711.", "bobs", "b1", user_id="bob")
        secret = make_record("user.message.v1", "a3", "private", {"content": "My peanuts diary."}, user_id="ada@example.com")
        event = outgoing({**secret, "memory": False}, "acme")
        await js.publish(event.subject, event.data, stream=BREADCRUMBS, headers={MESSAGE_ID_HEADER: event.message_id})
        await say(js, "What snack may I eat, any peanuts?", "tue", "a4", user_id="ada@example.com")
        await say(js, "And my peanuts?", "anonymous", "x1")
        await all_settled(js)
        pages = {event["trigger_event_id"]: event for event in await answered(js, "acme", "friend")}
        page = pages["a4"]["content"]
        assert "Always answer me in German." in page.partition("## Standing Instructions")[2].partition("##")[0]
        assert "Keine Erdnüsse für Ada." in page
        assert "4711" not in page
        assert "diary" not in page
        assert pages["a4"]["assembly"]["flags"] == []
        assert pages["x1"]["assembly"]["flags"] == ["no_user"]
        assert "allergic" not in pages["x1"]["content"]

        async def command(*words: str) -> subprocess.CompletedProcess[str]:
            reach = ("--user", "ada@example.com", "--workspace", "acme", "--servers", broker.url)
            return await to_thread(run, *words, *reach, env=environment(tmp_path))

        lines = (await command("export")).stdout.splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["a1", "a2", "a3", "a4"]
        known = json.loads((await command("history", "--json")).stdout)
        assert [crumb["id"] for crumb in known] == ["a1", "a2", "a3", "a4"]
        receipt = json.loads((await command("forget", "--by", "Eve", "--json")).stdout)
        assert (receipt["breadcrumbs"], receipt["sessions"], receipt["by"]) == (4, ["mon", "private", "tue"], "Eve")
        assert receipt["messages"] == 4
        everything = b"".join([*await held(js, BREADCRUMBS), *await held(js, CONTEXTS)])
        assert b"allergic" not in everything
        assert b"ada@example.com" not in everything
        assert b"4711" in everything
        assert "nothing of ada@example.com is remembered" in (await command("forget")).stderr
        await say(js, "Do you know any peanuts?", "wed", "a5", user_id="ada@example.com")
        await all_settled(js)
        (last,) = await answered(js, "acme", "friend", "wed")
    assert "peanuts" not in last["content"].replace("Do you know any peanuts?", "")
