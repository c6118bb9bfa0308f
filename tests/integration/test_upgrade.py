"""A service with everything in its files that releases have taken away: it starts, says each once, and answers."""

from pathlib import Path

import yaml

from builder.adapters.profiles.former_settings import FORMER
from builder.adapters.templates.folder import FORMER_PHRASES
from builder.client import connect
from tests.running import Running

MINE = """
extends: default
target: 3000
window_share: 0.5
words_of_people: user
window: {min_share: 0.2, whole_up_to: budget}
retrieval: {floor: 0.3, first_in_follow_ups: true}
sections: {conversation: {min_tokens: 9}}
"""


async def test_a_service_starts_with_everything_that_is_gone_in_its_files_and_says_each_once(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    (templates / "profiles").mkdir(parents=True)
    (templates / "phrases").mkdir()
    (templates / "profiles" / "mine.yaml").write_text(MINE, "utf-8")
    (templates / "profiles" / "lean.yaml").write_text("shadow_of: mine\nbudget: 300\n", "utf-8")
    (templates / "phrases" / "en.yaml").write_text(yaml.safe_dump(dict.fromkeys(FORMER_PHRASES, "gone")), "utf-8")
    with Running(tmp_path / "data", templates_dir=templates, embedding__engine="none") as service:
        async with connect(service.url, "acme") as client:
            context = await client.ask("s1", "Which kiln is free?", consumer="mine")
            assert context.event["token_budget"] == 3000
            assert "lean" not in {consumer.name for consumer in await client.consumers()}
        log = service.said()
    gone = [".".join(setting.path) for setting in FORMER] + sorted(FORMER_PHRASES)
    assert {name: log.count(f"`{name}` any more") for name in gone} == dict.fromkeys(gone, 1)
