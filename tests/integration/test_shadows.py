"""Shadow profiles beside live traffic: one context is published, one difference is kept."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.archive import NatsShadows
from builder.adapters.nats.topology import Topology
from builder.app.operations.shadows import shadow_report
from builder.app.settings import Settings
from builder.cli.shadow_report import difference_text, report_text
from builder.client import connect
from builder.domain.shadow_difference import ShadowDifference
from builder.service import ContextBuilder
from builder.wire.shadows import difference_json
from tests.integration.inside import service_here, settings
from tests.integration.test_record_consumers import TRIGGER, define
from tests.running import all_settled, answered, say, until

SMALL = "shadow_of: default\nextends: default\nbudget: 300\n"
LINES = [f"Glaze {number} needs {number * 3 % 17} coats and fires at cone {number % 9}, as Maya noted." for number in range(40)]


def with_shadows(folder: Path, **profiles: str) -> Settings:
    """Settings of a service with these profiles."""
    (folder / "templates" / "profiles").mkdir(parents=True)
    for name, text in profiles.items():
        (folder / "templates" / "profiles" / f"{name}.yaml").write_text(text, "utf-8")
    return settings(folder / "data").model_copy(update={"templates_dir": folder / "templates"})


async def kept(js: JetStreamContext, number: int) -> list[ShadowDifference]:
    """So many differences, once they are there."""
    shadows = NatsShadows(js, Topology())

    async def all_there() -> bool:
        return len([each async for each in shadows.read("acme")]) >= number

    await until(all_there, f"{number} differences")
    return [each async for each in shadows.read("acme")]


async def test_without_a_shadow_no_stream_of_differences_is_made_and_forgetting_needs_none(tmp_path: Path) -> None:
    async with service_here(settings(tmp_path / "data")) as service, connect(service.url, "acme") as client:
        await say(service.js, "Which glaze?", "s1", "m1")
        await all_settled(service.js)
        assert (await client.forget("m1"))[0].contexts == 1
        assert "SHADOWS" not in {info.config.name for info in await service.js.streams_info()}


async def test_a_shadow_publishes_no_context_and_its_difference_is_kept(tmp_path: Path) -> None:
    config = with_shadows(tmp_path, lean=SMALL)
    async with service_here(config) as service, connect(service.url, "acme") as client:
        for number, line in enumerate(LINES):
            await say(service.js, line, "s1", f"n{number}", schema="agent.response.v1", body={"message": line})
        await say(service.js, "How many coats does glaze 7 need?", "s1", "m1")
        await all_settled(service.js)
        (difference,) = await kept(service.js, 1)
        assert [each["consumer_id"] for each in await answered(service.js)] == ["default"]
        assert [each.name for each in await client.consumers()] == ["default", "recall"]
        (context,) = await answered(service.js)
        page, other = difference.page, difference.shadow_page
        assert (difference.consumer, difference.shadow, difference.session, difference.trigger) == ("default", "lean", "s1", "m1")
        assert (page.tokens, page.profile) == (context["token_count"], context["assembly"]["profile"])
        assert other is not None
        assert other.tokens <= 300 < page.tokens
        assert difference.only_consumer
        assert difference.only_shadow == ()
        assert 0 < difference.equal_lines < 1
        assert not any(line in json.dumps(difference_json(difference)) for line in LINES)
        assert "lean" in report_text(shadow_report([difference], 10))
        assert "lost: n" in difference_text(difference_json(difference))


async def test_a_shadow_that_cannot_be_built_changes_nothing_for_its_consumer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    build = ContextBuilder.build_contexts

    async def broken(self: ContextBuilder, trigger: Any, consumers: Any, ranker: Any = None) -> Any:
        if consumers[0].budget == 300:
            raise ValueError("a bug")
        return await build(self, trigger, consumers, ranker)

    monkeypatch.setattr(ContextBuilder, "build_contexts", broken)
    config = with_shadows(tmp_path, lean=SMALL, same="shadow_of: default\nextends: default\n")
    async with service_here(config) as service:
        await say(service.js, "Where does the kiln stand?", "s1", "m1")
        (difference,) = await kept(service.js, 1)
        assert (difference.shadow, difference.is_identical, difference.equal_lines) == ("same", True, 1)
        assert len(await answered(service.js)) == 1
    assert any("shadow lean of context" in record.getMessage() for record in caplog.records)


async def test_a_shadow_waits_until_no_delivery_is_in_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    start, build = ContextBuilder.begin, ContextBuilder.build_contexts

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        async def noted(self: ContextBuilder, *arguments: Any) -> Any:
            order.append(name)
            return await method(self, *arguments)

        return noted

    monkeypatch.setattr(ContextBuilder, "begin", noting("consumer", start))
    monkeypatch.setattr(ContextBuilder, "build_contexts", noting("shadow", build))
    async with service_here(with_shadows(tmp_path, lean=SMALL)) as service:
        await asyncio.gather(*(say(service.js, f"Question {number}?", f"s{number}", f"m{number}") for number in range(20)))
        await kept(service.js, 20)
    assert order.count("consumer") == 20
    assert order.count("shadow") == 40
    assert order[:2] == ["consumer", "consumer"]


async def test_the_difference_of_a_forgotten_trigger_is_removed(tmp_path: Path) -> None:
    async with service_here(with_shadows(tmp_path, lean=SMALL)) as service, connect(service.url, "acme") as client:
        for name in ("m1", "m2"):
            await say(service.js, f"My secret is {name}.", "s1", name)
        await kept(service.js, 2)
        await client.forget("m1")
        assert [each.trigger for each in await kept(service.js, 1)] == ["m2"]


async def test_a_shadow_follows_the_consumer_that_a_record_makes(tmp_path: Path) -> None:
    config = with_shadows(tmp_path, lean="shadow_of: support\nextends: default\nbudget: 300\n")
    async with service_here(config) as service:
        await define(service.js, "support", context_trigger=TRIGGER, system_prompt="You sell kilns.")
        await say(service.js, "Which one?", "s1", "m1")
        (difference,) = await kept(service.js, 1)
        assert (difference.consumer, difference.shadow) == ("support", "lean")
        assert difference.shadow_page is not None
        assert "role" in difference.shadow_page.sections
