"""Templates of every kind in a running service: none takes a message away, none stops it."""

import json
from pathlib import Path
from typing import Any

from tests.hostile import LOOP
from tests.integration.test_reloading import Templates
from tests.running import Broker, Running, all_settled, answered, dead_letters, jetstream, say

BOOM = "{% if 'boom' in text %}" + LOOP + "{% endif %}{{ speaker }} says: {{ text }}"
PAGE = (
    """{% for section in sections %}
{% if section.groups | length > 0 and 'boom' in section.groups[-1].fragments[-1] %}"""
    + LOOP.replace("text", "section.title")
    + """{% endif %}
# {{ section.title }}
{% for group in section.groups %}{% for fragment in group.fragments %}{{ fragment }}
{% endfor %}{% endfor %}
{% endfor %}"""
)


async def test_a_template_that_fails_on_a_message_costs_its_fragment_and_is_told_once(tmp_path: Path, broker: Broker) -> None:
    templates = Templates(tmp_path / "templates")
    (templates.folder / "pages").mkdir()
    templates.write("hints/user.message.v1.md.j2", BOOM)
    templates.write("pages/default.md.j2", PAGE)
    with Running(tmp_path / "service", broker.url, templates_dir=templates.folder) as service:
        async with jetstream(broker.url) as js:
            for number in range(3):
                await say(js, f"boom number {number} " * 20, "loud", f"loud-{number}")
                await say(js, "Which port is it?", f"quiet-{number}", f"quiet-{number}")
            await all_settled(js)
            assert service.get("/livez")[0] == 200
            loud, quiet = await answered(js, session="loud"), await answered(js, session="quiet-2")
            assert not await dead_letters(js)
        assert "\n# Current User Message\n- User says: Which port is it?\n" in "\n" + quiet[0]["content"]
        assert quiet[0]["assembly"]["flags"] == []
        assert [event["assembly"]["flags"] for event in loud] == [["hint_failed", "page_failed"]] * 3
        for number in range(3):
            assert f"user.message.v1: content: boom number {number} boom" in loud[2]["content"]
        assert "## Current User Message\n" in loud[2]["content"]
        assert any("hint failed, the generic hint is shown" in reason for reason in loud[2]["omissions"]["by_reason"])
        metrics = service.get("/metrics")[1]
        assert 'context_builder_hint_failures_total{hint="user.message.v1"} 3.0' in metrics
        assert 'context_builder_page_failures_total{page="default"}' in metrics
        assert service.said().count("hints/user.message.v1.md.j2 failed, the generic hint is shown: line 1: ") == 1
        assert service.said().count("pages/default.md.j2 failed, the bundled page 'default' is shown: line ") == 1
        assert "boom number" not in service.said()
        assert service.stop() == 0


async def test_an_empty_blacklist_changes_nothing_and_is_told(tmp_path: Path, broker: Broker) -> None:
    number, workspace = "The safe opens with the number 4711.", "safes"
    with Running(tmp_path / "service", broker.url) as service:
        async with jetstream(broker.url) as js:

            async def put(text: str, session: str, identity: str, **record: Any) -> None:
                await say(js, text, session, identity, workspace, **record)

            async def content(trigger: str) -> str:
                await all_settled(js)
                (event,) = [event for event in await answered(js, workspace) if event["trigger_event_id"] == trigger]
                return str(event["content"])

            await put("", "_", "list-1", schema="context.blacklist.v1", body={"excluded_ids": ["m2"]})
            await put("", "s1", "list-2", schema="context.blacklist.v1", body={"excluded_ids": ["m1"]})
            await put(number, "s1", "m1")
            await put("A draft of the letter.", "s1", "m2")
            record = {"id": "list-3", "schema_name": "context.blacklist.v1", "context": {}}
            await js.publish(f"breadcrumbs.{workspace}.s1.context.blacklist.v1", json.dumps(record).encode())
            await put("Which number opens the safe?", "s1", "m3")
            assert number not in await content("m3")
            (letter,) = [letter for letter in await dead_letters(js) if workspace in letter["subject"]]
            assert "it leaves nothing out, so the blacklist before it holds on" in letter["reason"]
            # Lifted: the one before it holds again.
            await put("", "s1", "gone", schema="breadcrumb.deleted.v1", body={"breadcrumb_id": "list-2"})
            await put("So which number opens the safe?", "s1", "m4")
            assert number in await content("m4")
            assert "A draft" not in await content("m4")
        assert service.running
