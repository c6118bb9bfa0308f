"""The page rcrt.md: its commands, its compose lines, and what the dry run says."""

import asyncio
import os
import re
import subprocess
from pathlib import Path

import yaml

from builder.cli import EXIT_MISCONFIGURED
from builder.extras.rcrt.service import RcrtSettings
from tests.commands import COMMAND
from tests.rcrt import CHAT, CHAT_AGENT, Bridge, RcrtServer
from tests.running import Broker, jetstream, wait_for


def test_a_dry_run_compares_both_builders_writes_nothing_and_makes_nothing_on_the_broker(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, RcrtServer(tmp_path / "rcrt", broker) as server:
        server.create("agent.def.v1", CHAT_AGENT, "agent:def", "workspace:agents")
        with Bridge(tmp_path / "dry", broker, server, "--dry-run") as trial:
            trial.joined()
            server.say("The blue kiln stands in the cellar.", "dry")
            trigger = server.say("Where is the blue kiln?", "dry")
            wait_for(lambda: f"{CHAT} for {trigger}: " in trial.said(), "our page")
            theirs = {
                "consumer_id": CHAT,
                "trigger_event_id": trigger,
                "formatted_context": '=== CONVERSATION HISTORY ===\n{"content": "Where is the blue kiln?"}',
            }
            server.create("agent.context.v1", theirs, "agent:context", f"consumer:{CHAT}", "session:dry")
            line = f"{CHAT} for {trigger}: .* 2 of 2 messages; RCRT: 18 tokens in 1 sections, 1 of 2 messages"
            wait_for(lambda: re.search(line, trial.said()), "the comparison")
            assert "- User: Where is the blue kiln?" in trial.said()
        assert len(server.contexts()) == 1

        async def streams() -> list[str]:
            async with jetstream(broker.url) as js:
                return [str(info.config.name) for info in await js.streams_info()]

        assert asyncio.run(streams()) == []


PAGE = (Path(__file__).parents[2] / "builder" / "docs" / "rcrt.md").read_text("utf-8")


def test_the_compose_lines_of_the_page_name_the_settings_and_their_defaults() -> None:
    (lines,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    service = yaml.safe_load(lines)["services"]["context-builder"]
    assert service["command"] == ["rcrt"]
    names = {
        (str(field.validation_alias) if field.validation_alias else name.upper()): field
        for name, field in RcrtSettings.model_fields.items()
    }
    given = {name: value for name, value in service["environment"].items() if not name.startswith("CONTEXT_BUILDER_")}
    assert given.keys() == names.keys()
    assert {name: str(field.default) for name, field in names.items() if not field.is_required()}.items() <= given.items()


def test_a_missing_address_is_named_with_its_remedy(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in {"NATS_URL", "RCRT_API_URL"}}
    run = subprocess.run([COMMAND, "rcrt"], env=env | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert run.returncode == EXIT_MISCONFIGURED
    assert run.stderr == (
        "context-builder: NATS_URL: field required; RCRT_API_URL: field required; give the same values as to the deployment's "
        "own context builder\n"
    )
