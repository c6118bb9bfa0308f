"""The page about backup, restore and upgrade, followed line by line."""

import re
import shlex
import subprocess
import tarfile
from pathlib import Path

import pytest

from builder.client.sync import connect
from tests.commands import run
from tests.running import Running, wait_for

PAGE = (Path(__file__).resolve().parents[2] / "builder" / "docs" / "backup.md").read_text("utf-8")
OLDER = Path(__file__).with_name("data-of-migration-16.tar.gz")
"""The data folder of a service of 2026-11-23: store, streams, two answered messages and a dead letter."""
MAX_WORDS = 900


def follow(part: str, env: dict[str, str], folder: Path) -> str:
    """Run the lines of a part's blocks; what they say."""
    blocks = re.findall(rf"^<!-- {part}: .*? -->\n\n```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert blocks, part
    said = ""
    for line in "".join(blocks).splitlines():
        command, *arguments = shlex.split(line.replace("$CONTEXT_BUILDER_DATA_DIR", str(folder / "data")))
        if command == "context-builder":
            done = run(*arguments, env=env, cwd=folder)
        else:
            done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
        said += done.stdout
    return said


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) <= MAX_WORDS


def test_a_backup_is_restored_as_the_page_says(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Running(data, embedding__engine="none") as service:
        with connect(service.url) as client:
            asked = client.ask("s42", "Where does the blue kiln stand?", message_id="m1")
            saved = follow("backup", service.env, tmp_path)
            client.ask("s42", "This one comes after the backup.", message_id="m2")
        assert "BREADCRUMBS             1 messages, the last is 1\n" in saved
        assert service.stop() == 0
    follow("restore", service.env, tmp_path)
    with service:
        said = follow("check", service.env, tmp_path)
        assert "FAIL" not in said
        assert "Where does the blue kiln stand?" in said
        assert "after the backup" not in said
        assert "byte for byte" in run("explain", "-s", "s42", env=service.env).stdout
        with connect(service.url) as client:
            assert client.context(session="s42").event == asked.event
            again = client.ask("s42", "This one comes after the backup.", message_id="m2")
            assert "Where does the blue kiln stand?" in again.content


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A data folder of the release before."""
    data = tmp_path / "data"
    with tarfile.open(OLDER) as archive:
        archive.extractall(data, filter="data")
    return data


def test_the_data_of_the_release_before_is_upgraded_and_goes_on(older: Path, tmp_path: Path) -> None:
    service = Running(older, embedding__engine="none")
    follow("upgrade", service.env, tmp_path)
    with service:
        with connect(service.url) as client:
            context = client.ask("s1", "And how hot does it get?", message_id="m3")
            assert "The blue kiln is K-4711 and fires at 1060 degrees." in context.content
            assert [row.id for row in client.history("s1")] == ["m1", "m2", "m3"]
        assert "FAIL" not in follow("check", service.env, tmp_path)
        assert service.outcomes() == ["published"]
        assert service.stop() == 0
    follow("back", service.env, tmp_path)
    with service, connect(service.url) as client:
        assert [row.id for row in client.history("s1")] == ["m1", "m2", "m3"]
        wait_for(lambda: service.get("/readyz")[0] == 200, "the service to be ready")
