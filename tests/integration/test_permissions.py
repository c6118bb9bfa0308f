"""An agent with exactly the permissions that the protocol lists can do what the agents page says."""

import re
from pathlib import Path

import pytest

from builder.client import connect
from tests.commands import DEADLINE, run
from tests.running import Broker, Running, environment, jetstream, say, wait_for

PROTOCOL = Path(__file__).resolve().parents[2] / "builder" / "docs" / "protocol.md"


def permissions() -> str:
    block = re.search(r"<!-- permissions: .*? -->\n\n```conf\n(.*?)```", PROTOCOL.read_text("utf-8"), re.DOTALL)
    assert block
    return block[1]


ACCOUNTS = {
    "nothing": (
        'authorization {users: [{user: u, password: p, permissions: {publish: ["x"], subscribe: ["_INBOX.>"]}}]}',
        "publish '$JS.API.STREAM.INFO.BREADCRUMBS'",
    ),
    "no durable for imports": (
        'authorization {users: [{user: u, password: p, permissions: {publish: {deny: ["*.*.*.*.*.context-builder-replays"]}}}]}',
        "publish '$JS.API.CONSUMER.INFO.BREADCRUMBS.>'",
    ),
    "no JetStream": ("accounts {A: {users: [{user: u, password: p}]}}", "enable JetStream for the account of this user"),
    "too few streams": (
        "accounts {A: {jetstream: {max_streams: 2}, users: [{user: u, password: p}]}}",
        "raise the account's max_streams",
    ),
}


@pytest.mark.parametrize("case", ACCOUNTS)
def test_a_start_without_its_rights_says_in_a_sentence_which_one_is_missing(case: str, tmp_path: Path) -> None:
    configuration, sentence = ACCOUNTS[case]
    with Broker(tmp_path / "broker", configuration=configuration + "\n") as broker:
        env = environment(tmp_path / "data", nats__servers=broker.url.replace("//", "//u:p@"), embedding__engine="none")
        done = run("worker", env=env)
    assert done.returncode == 78
    assert sentence in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


async def test_a_permission_that_is_missing_while_the_service_runs_is_told_once(tmp_path: Path) -> None:
    denied = 'authorization {users: [{user: u, password: p, permissions: {publish: {deny: ["contexts.>", "probes.>"]}}}]}\n'
    with Broker(tmp_path / "broker", configuration=denied) as broker:
        url = broker.url.replace("//", "//u:p@")
        with Running(tmp_path / "service", url, embedding__engine="none") as service:
            async with jetstream(url) as js:
                for number in range(3):
                    await say(js, "Hello.", f"s{number}", "m1", f"w{number}")
                service.get("/readyz")
                wait_for(lambda: "permission publish 'contexts.>'" in service.said(), "the warning about contexts")
                wait_for(lambda: service.outcomes().count("unavailable") > 1, "more refusals")
                service.get("/readyz")
            said = service.said()
            assert said.count("the permission publish 'contexts.>'") == 1
            assert said.count("the permission publish 'probes.>'") == 1


async def test_the_permissions_of_the_page_are_enough_for_an_agent(tmp_path: Path) -> None:
    agent = f"{{user: agent, password: a, permissions: {{\n{permissions()}}}}}"
    users = f"authorization {{ users = [\n{{user: service, password: s}}\n{agent}\n] }}\n"
    with Broker(tmp_path / "broker", configuration=users) as broker:
        service, own = (broker.url.replace("//", f"//{credentials}@") for credentials in ("service:s", "agent:a"))
        with Running(tmp_path / "service", service, embedding__engine="none"):
            async with connect(own, "acme") as client, client.subscribed("default") as contexts:
                for _ in range(2):
                    asked = await client.ask("s1", "Hello.", message_id="m1", timeout=DEADLINE)
                context = await anext(contexts)
                assert context.event == asked.event
                await client.send_response(context, "Hello to you.")
                assert [each.message for each in await client.responses(context)] == ["Hello to you."]
                await client.send_user_message("s1", "And again.", message_id="m2")
                assert (await anext(contexts)).trigger_event_id == "m2"
                assert [record.text async for record in client.history("s1")] == ["Hello.", "Hello to you.", "And again."]
