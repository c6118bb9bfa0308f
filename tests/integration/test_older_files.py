"""Nobody's files break: the data folder, the presets as files of a user, and the page templates of tree 7796d80b.

Its data were written by `context-builder up` of that tree and three messages by `context-builder send --session s1`. The
token, the broker's log and its lock are taken out.
"""

import shutil
import tarfile
from pathlib import Path

from tests.free_ports import free_port
from tests.running import Running, all_settled, answered, jetstream, say

TREE = Path(__file__).parent / "tree-7796d80b"
GONE = {
    "profiles/default.yaml": ["retrieval.floor"],
    "presets/economy.yaml": ["target", "retrieval.floor"],
    "profiles/economy.yaml": ["target", "retrieval.floor"],
}
"""File → its settings that profiles no longer have."""


async def test_data_and_templates_of_an_older_tree_are_read_and_what_is_gone_is_told_once(tmp_path: Path) -> None:
    data, templates = tmp_path / "data", tmp_path / "templates"
    with tarfile.open(TREE / "data.tar.xz") as archive:
        archive.extractall(data, filter="data")
    shutil.copytree(TREE / "templates", templates)
    shutil.copytree(TREE / "templates" / "presets", templates / "profiles", dirs_exist_ok=True)
    with Running(data, nats__port=free_port(), templates_dir=templates) as service:
        async with jetstream(service.url) as js:
            await say(js, "Where does the spare key of the kiln hang?", "s1", "asks", workspace="default")
            await all_settled(js)
            contexts = [context for context in await answered(js) if context["trigger_event_id"] == "asks"]
        lines = service.said().splitlines()
    pages = {context["consumer_id"]: context["content"] for context in contexts}
    names = {file.stem for file in (TREE / "templates").glob("pr*/*.yaml")} - {"recall", "framework"}
    assert pages.keys() == names
    assert [name for name, page in pages.items() if "The spare key of the kiln hangs behind the blue door." not in page] == []
    warnings = sorted(line for line in lines if "there is no setting" in line)
    assert len(warnings) == len({line.partition("WARN")[2] for line in warnings})
    assert sum(map(len, GONE.values())) >= len(warnings) >= 3
    for name in ("target", "retrieval.floor"):
        assert any(f"there is no setting `{name}` any more" in line for line in warnings), lines
