"""Shadow profiles: published contexts are built again with them and compared, and no shadow publishes anything."""

from pathlib import Path
from typing import Any

from builder.app.operations.published import read_contexts, replayed_differences, summarise_differences
from builder.app.service import Service
from builder.app.settings import Settings
from builder.cli.reports import report_text
from builder.client import connect
from tests.integration.inside import service_here, settings
from tests.integration.profiles import with_profiles
from tests.integration.test_record_consumers import TRIGGER, define
from tests.running import all_settled, answered, say, until

SMALL = "shadow_of: default\nextends: default\nbudget: 300\n"
LINES = [f"Glaze {number} needs {number * 3 % 17} coats and fires at cone {number % 9}, as Maya noted." for number in range(40)]


def with_shadows(folder: Path, **profiles: str) -> Settings:
    """Settings of a service with these profiles."""
    (folder / "templates").mkdir()
    return settings(folder / "data").model_copy(update={"templates_dir": with_profiles(folder, profiles)})


async def compared(service: Service, shadows: dict[str, str], most: int = 200) -> list[dict[str, Any]]:
    """The differences by these shadows of workspace acme, whose replays were all counted."""
    steps: list[tuple[int, int]] = []
    config = settings(Path()).model_copy(update={"name": service.installation.name})
    contexts = await read_contexts(config, service.url, "acme", shadows.values(), most)
    async with connect(service.url, "acme") as client:
        differences = await replayed_differences(client, contexts, shadows, lambda done, total: steps.append((done, total)))
    assert steps == [(number, len(differences)) for number in range(1, len(differences) + 1)]
    return differences


async def test_a_shadow_publishes_no_context_and_no_consumer_and_its_page_is_compared(tmp_path: Path) -> None:
    async with service_here(with_shadows(tmp_path, lean=SMALL)) as service, connect(service.url, "acme") as client:
        for number, line in enumerate(LINES):
            await say(service.js, line, "s1", f"n{number}", schema="agent.response.v1", body={"message": line})
        await say(service.js, "How many coats does glaze 7 need?", "s1", "m1")
        await all_settled(service.js)
        (difference,) = await compared(service, {"lean": "default"})
        (context,) = await answered(service.js)
        assert context["consumer_id"] == "default"
        assert [each.name for each in await client.consumers()] == ["default", "framework", "recall"]
        assert {info.config.name for info in await service.js.streams_info()} == {
            "BREADCRUMBS", "CONTEXTS", "DEADLETTERS", "PROBES",
        }  # fmt: skip
    names = ("consumer", "shadow", "session", "trigger")
    assert [difference[name] for name in names] == ["default", "lean", "s1", "m1"]
    assert difference["tokens"] == context["token_count"]
    assert difference["shadow_tokens"] <= 300 < difference["tokens"]
    assert (bool(difference["lost"]), difference["gained"]) == (True, [])
    assert 0 < difference["equal_lines"] < 1
    assert "lean" in report_text(summarise_differences([difference], 10))


async def test_the_newest_contexts_are_replayed_and_neither_forgotten_ones_nor_those_of_other_consumers(tmp_path: Path) -> None:
    same = "shadow_of: default\nextends: default\n"
    twin = "extends: default\ntriggers: [user.message.v1]\n"
    async with service_here(with_shadows(tmp_path, same=same, twin=twin)) as service, connect(service.url, "acme") as client:
        for name in ("m1", "m2", "m3", "m4"):
            await say(service.js, f"My secret is {name}.", f"of {name}", name)
        await all_settled(service.js)
        await client.forget("m3")
        shadows = {"same": "default"}
        found = await compared(service, shadows, most=2)
        assert [(each["trigger"], each["is_identical"]) for each in found] == [("m4", True), ("m2", True)]
        assert [each["trigger"] for each in await compared(service, shadows)] == ["m4", "m2", "m1"]


async def test_a_shadow_that_came_after_the_context_and_has_no_room_says_why_and_stops_no_other(tmp_path: Path) -> None:
    config = with_shadows(tmp_path)
    async with service_here(config) as service:
        await say(service.js, "Where is the kiln, and who has the key to its door?", "s1", "m1")
        await all_settled(service.js)
        with_profiles(tmp_path, {"tiny": SMALL.replace("300", "16\non_overflow: reject"), "same": SMALL.replace("300", "4000")})

        async def are_there() -> bool:
            return len(service.core.config.shadows) == 2

        await until(are_there, "the shadows")
        tiny, same = await compared(service, {"tiny": "default", "same": "default"})
        assert (tiny["shadow_tokens"], same["equal_lines"]) == (None, 1)
        assert tiny["rejection"].startswith("default: ")
        rows = summarise_differences([tiny, same], 10)["shadows"]
        assert [(row["shadow"], row["without_page"], row["rejections"]) for row in rows] == [
            ("same", 0, {}), ("tiny", 1, {tiny["rejection"]: 1}),
        ]  # fmt: skip


async def test_a_shadow_follows_the_consumer_that_a_record_makes(tmp_path: Path) -> None:
    config = with_shadows(tmp_path, lean="shadow_of: support\nextends: default\nbudget: 300\n")
    async with service_here(config) as service:
        await define(service.js, "support", context_trigger=TRIGGER, system_prompt="You sell kilns.")
        await say(service.js, "Which one?", "s1", "m1")
        await all_settled(service.js)
        (difference,) = await compared(service, {"lean": "support"})
        assert (difference["consumer"], difference["shadow"]) == ("support", "lean")
        async with connect(service.url, "acme") as client:
            answer = await client.request("replay", {"trigger": "m1", "consumer": "support", "profile": "lean"})
        assert "You sell kilns." in answer["after"]["content"]
