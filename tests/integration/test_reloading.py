"""Profiles and templates are edited while the service runs: the next trigger sees the edit, a broken one changes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from tests.integration.test_metrics import value
from tests.running import Broker, Running, all_settled, answered, jetstream, say, until, wait_for

PROFILE = """
extends: minimal
triggers: [user.message.v1]
system_prompt: %s
sections:
  - {name: role, title: Role, source: system, class: static}
  - {name: recent, title: Recent, source: window}
  - {name: current, title: Current, source: trigger}
retrieval: {schemas: []}
"""


class Templates:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for kind in ("profiles", "hints"):
            (folder / kind).mkdir(parents=True)

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text, "utf-8")

    def remove(self, file: str) -> None:
        (self.folder / file).unlink()


async def ask(js: JetStreamContext, identity: str) -> list[dict[str, Any]]:
    """The contexts of one new question in a session of its own."""
    await say(js, "Which port is it?", identity, identity)
    await all_settled(js)
    return await answered(js, session=identity)


def page(contexts: list[dict[str, Any]], consumer: str) -> str:
    return "".join(event["content"] for event in contexts if event["consumer_id"] == consumer)


async def test_an_edit_is_seen_by_the_next_trigger_and_a_broken_one_changes_nothing(tmp_path: Path, broker: Broker) -> None:
    templates = Templates(tmp_path / "templates")
    templates.write("profiles/mira.yaml", PROFILE % "You are Mira.")
    with Running(tmp_path / "service", broker.url, templates_dir=templates.folder) as service:

        def failures() -> float:
            return value(service.get("/metrics")[1], "context_builder_reload_failures_total")

        def state() -> str:
            status, body = service.get("/readyz")
            assert status == 200
            return str(json.loads(body)["parts"]["templates"])

        async def edit(change: Callable[[], None], times: int) -> None:
            """Make a change and wait until it was read; times: how often anything was read by then."""
            change()
            wait_for(lambda: service.said().count("profiles and templates were read again") == times, "the edit to be read")

        async with jetstream(broker.url) as js:
            before = await ask(js, "before")
            assert {event["consumer_id"] for event in before} == {"default", "mira"}
            assert "You are Mira." in page(before, "mira")

            await edit(lambda: templates.write("profiles/mira.yaml", PROFILE % "You are Mira the second."), 1)
            assert "You are Mira the second." in page(await ask(js, "profile"), "mira")

            await edit(lambda: templates.write("hints/user.message.v1.md.j2", "{{ speaker }} says: {{ text }}"), 2)
            hinted = await ask(js, "hint")
            assert "says: Which port is it?" in page(hinted, "mira")
            assert "says: Which port is it?" in page(hinted, "default")

            templates.write("profiles/mira.yaml", "extends: minimall\n")
            wait_for(lambda: failures() == 1, "the broken edit to be refused")
            assert "profiles/mira.yaml" in state()
            assert "minimall" in state()
            templates.write("hints/user.message.v1.md.j2", "{{ speaker ")
            wait_for(lambda: failures() == 2, "the second broken edit to be refused")
            assert "You are Mira the second." in page(await ask(js, "broken"), "mira")
            assert service.said().count("the last good profiles and templates stay in force") == 2

            templates.remove("hints/user.message.v1.md.j2")
            await edit(lambda: templates.write("profiles/mira.yaml", PROFILE % "You are Mira the third."), 3)
            assert state() == "ok"
            mended = page(await ask(js, "mended"), "mira")
            assert "You are Mira the third." in mended
            assert "says:" not in mended


async def test_a_profile_that_is_taken_away_gets_no_more_contexts_and_a_new_one_does(tmp_path: Path, broker: Broker) -> None:
    templates = Templates(tmp_path / "templates")
    templates.write("profiles/old.yaml", PROFILE % "Old.")
    with Running(tmp_path / "service", broker.url, templates_dir=templates.folder) as service:
        async with jetstream(broker.url) as js:
            first = await ask(js, "with-old")
            templates.remove("profiles/old.yaml")
            templates.write("profiles/new.yaml", PROFILE.replace("minimal", "minimal\nencoding: cl100k_base") % "New.")

            async def new_is_read() -> bool:
                return "read again: default, framework, new, recall" in service.said()

            await until(new_is_read, "the new profile")
            second = await ask(js, "with-new")
    assert [event["consumer_id"] for event in first] == ["default", "old"]
    assert [event["consumer_id"] for event in second] == ["default", "new"]


async def test_a_service_starts_with_the_last_good_files_says_so_and_takes_the_mended_ones(
    tmp_path: Path, broker: Broker
) -> None:
    templates = Templates(tmp_path / "templates")
    templates.write("profiles/mira.yaml", PROFILE % "You are Mira.")
    with Running(tmp_path / "service", broker.url, templates_dir=templates.folder) as service:
        wait_for(lambda: service.get("/readyz")[0] == 200, "the first start")
        assert service.stop() == 0
    templates.write("hints/user.message.v1.md.j2", "- {{ speaker }}: {{ body.contnet }}")
    with Running(tmp_path / "service", broker.url, templates_dir=templates.folder) as service:
        body = json.loads(service.get("/readyz")[1])
        assert (body["status"], "hints/user.message.v1.md.j2 line 1" in body["parts"]["templates"]) == ("degraded", True)
        assert "started with the last good profiles and templates: hints/user.message.v1.md.j2 line 1" in service.said()
        wait_for(
            lambda: value(service.get("/metrics")[1], "context_builder_reload_failures_total") == 1, "the edit to be counted"
        )
        async with jetstream(broker.url) as js:
            assert "Which port is it?" in page(await ask(js, "old"), "mira")
            templates.write("hints/user.message.v1.md.j2", "- {{ speaker }} asks: {{ body.content }}")
            wait_for(lambda: "profiles and templates were read again" in service.said(), "the mended file")
            assert "asks: Which port is it?" in page(await ask(js, "new"), "mira")
