"""The examples of `builder/docs/profiles.md`: a record makes a consumer, a profile is on trial, both are shown by commands."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.app.settings import Settings
from builder.client import connect
from builder.extras.workshop.profile_catalog import open_catalog
from tests.commands import run
from tests.factories import make_breadcrumb
from tests.running import Running, all_settled, answered, jetstream, say

PAGE = (Path(__file__).resolve().parents[2] / "builder" / "docs" / "profiles.md").read_text("utf-8")
BLOCKS = re.findall(
    r"<!-- file: tests/e2e/test_consumers.py -->\n\n```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
FILES = {name: text for language, name, text in BLOCKS if language == "yaml"}
(RECORD,) = [json.loads(text) for language, _, text in BLOCKS if language == "json"]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the profiles of the page."""
    home = tmp_path_factory.mktemp("templates")
    for name, text in FILES.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text, "utf-8")
    return home


@pytest.fixture(scope="module")
def service(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with these profiles, for workspace acme."""
    folder = tmp_path_factory.mktemp("service")
    with Running(folder, templates_dir=templates, workspace="acme", embedding__engine="none") as running:
        yield running


async def publish(js: JetStreamContext, record: dict[str, object], schema: str) -> None:
    await js.publish(f"breadcrumbs.acme._.{schema}", json.dumps(record).encode())


def test_the_profiles_of_the_page_are_free_of_errors(templates: Path) -> None:
    findings = open_catalog(Settings(templates_dir=templates)).findings(("triage",))
    assert [str(each) for each in findings if each.severity == "error"] == []


async def test_the_record_of_the_page_makes_a_consumer_that_the_commands_show(service: Running) -> None:
    async with jetstream(service.url) as js:
        await publish(js, {"id": "prices", "context": {"content": "A small kiln costs 900 euros."}}, "price.list.v1")
        await publish(js, RECORD, "agent.def.v1")
        await publish(
            js, {"id": "def-sales", "context": {"agent_id": "sales", "context_trigger": {"schema_name": 7}}}, "agent.def.v1"
        )
        await say(js, "What does a kiln cost?", "s1", "m1", tags=["vip"])
        await say(js, "Thanks.", "s1", "m2")
        await all_settled(js)
        (context,) = await answered(js, consumer="support")
    assert (context["trigger_event_id"], context["token_budget"]) == ("m1", 3000)
    assert "You help people who fire kilns." in context["content"]
    assert "A small kiln costs 900 euros." in context["content"]
    async with connect(service.url, "acme") as client:
        consumer = await client.consumer("support")
        assert consumer.origin == 'agent.def.v1 "def-support" version 1'
        plain, urgent = make_breadcrumb(), make_breadcrumb(tags=("urgent",))
        assert "its profile has the triggers user.message.v1 any_tags=vip,urgent" in consumer.refusal(plain)
        assert consumer.refusal(urgent) == ""
    done = run("consumers", env=service.env | {"COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    assert re.search(r"support +agent\.def\.v1 \"def-support\" version 1 +user\.message\.v1 any_tags=vip,urgent", done.stdout)
    assert 'agent.def.v1 "def-sales" version 1: `context_trigger.schema_name`: input should be a valid string' in done.stdout
    answer = json.loads(run("consumers", "--json", env=service.env).stdout)
    assert [each["name"] for each in answer["consumers"]] == ["default", "framework", "recall", "triage", "support"]
