"""Agents that answer each other are stopped, told why, and counted."""

from pathlib import Path

import yaml

from builder.app.config import bundled_folder
from tests.integration.test_metrics import value
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, say

PROFILES = {"strict": 3, "patient": 9}


async def test_a_loop_of_agents_is_stopped_at_each_consumer_s_limit_dead_lettered_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "templates" / "profiles"
    folder.mkdir(parents=True)
    for name, limit in PROFILES.items():
        profile = yaml.safe_load((bundled_folder("templates") / "profiles" / "default.yaml").read_text("utf-8"))
        profile |= {"triggers": ["agent.response.v1"], "recursion_limit": limit}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(profile, sort_keys=False), "utf-8")
    with (
        Broker(tmp_path / "broker") as broker,
        Running(tmp_path / "data", broker.url, templates_dir=tmp_path / "templates") as service,
    ):
        async with jetstream(broker.url) as js:
            await say(js, "Begin.", "s1", "r0")
            for step in range(1, 6):
                where = f"s{step % 2}"  # a chain does not end at its session
                body = {"message": f"Step {step}.", "trigger_event_id": f"r{step - 1}"}
                await say(js, "", where, f"r{step}", schema="agent.response.v1", body=body)
                await all_settled(js)
            told = {(event["consumer_id"], event["trigger_event_id"]) for event in await answered(js)}
            assert told - {("default", "r0")} == {
                *(("strict", f"r{step}") for step in (1, 2, 3)), *(("patient", f"r{step}") for step in range(1, 6)),
            }  # fmt: skip
            reasons = [letter["reason"] for letter in await dead_letters(js)]
            assert len(reasons) == 2
            assert reasons[0].startswith(
                "strict: the causal chain has more than 3 steps (recursion_limit): r4 answers r3 answers r2"
            )
            assert "raise the profile's recursion_limit" in reasons[0]
        assert value(service.get("/metrics")[1], "context_builder_chains_stopped_total") == 2
