"""A profile may look beyond its session, never beyond its workspace."""

from pathlib import Path

from builder.app.config import bundled_folder
from tests.integration.inside import service_here, settings
from tests.running import Broker, all_settled, answered, say

QUESTION = "What is the serial number of the blue kiln?"


def profiles(folder: Path) -> Path:
    """The default profile with other scopes."""
    original = (bundled_folder("templates") / "profiles" / "default.yaml").read_text("utf-8")
    for name, scope in (("everywhere", "workspace"), ("listed", "[notes, s9]")):
        file = folder / "templates" / "profiles" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        assert "scope: session" in original
        file.write_text(original.replace("scope: session", f"scope: {scope}"), "utf-8")
    return folder / "templates"


async def test_a_context_finds_what_was_said_in_the_sessions_of_its_scope_and_in_no_other_workspace(
    tmp_path: Path, broker: Broker
) -> None:
    config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": profiles(tmp_path)})
    async with service_here(config) as service:
        for workspace, session, serial in (("acme", "notes", "K-1"), ("acme", "diary", "K-2"), ("rival", "notes", "K-3")):
            text = f"The serial number of the blue kiln is {serial}."
            await say(service.js, text, session, f"{workspace}-{session}", workspace)
            await say(service.js, "Thanks, see you on Friday in the workshop.", session, f"{workspace}-{session}-end", workspace)
        await all_settled(service.js)
        await say(service.js, QUESTION, "s1", "asked")
        await all_settled(service.js)
        pages = {event["consumer_id"]: event["content"] for event in await answered(service.js, session="s1")}
    serials = {name: {serial for serial in ("K-1", "K-2", "K-3") if serial in page} for name, page in pages.items()}
    assert serials == {"default": set(), "everywhere": {"K-1", "K-2"}, "listed": {"K-1"}}
    assert all(page.count("## Recent Conversation") == 0 for page in pages.values())


async def test_what_no_worker_has_remembered_yet_is_caught_up_for_the_whole_workspace(tmp_path: Path, broker: Broker) -> None:
    config = settings(tmp_path, broker.url).model_copy(update={"templates_dir": profiles(tmp_path)})
    async with service_here(config) as service:
        await say(service.js, "Hello.", "s1", "first", "globex")
        await all_settled(service.js)
    async with service_here(config) as service:
        for number in range(40):
            await say(service.js, f"The kiln of order {number} is a K-47{number:02}.", f"order{number}", f"o{number}", "globex")
        await say(service.js, "Which kiln has order 31?", "s1", "asked", "globex")
        await all_settled(service.js)
        events = await answered(service.js, "globex", "everywhere", "s1")
    contexts = [event for event in events if event["trigger_event_id"] == "asked"]
    assert ["K-4731" in event["content"] for event in contexts] == [True]
