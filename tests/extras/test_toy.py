"""Somebody else's package adds a store, a request with its route, and a command, and no line of the house changes for it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from builder.client import Client, Rejected, connect
from tests.commands import DEADLINE, python_path
from tests.e2e.test_http import token_of
from tests.http_api import Api
from tests.running import ROOT, Running, environment, until

TOY = ROOT / "tests" / "extras" / "toy"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index")
COMMAND = (sys.executable, "-m", "builder")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder that a wheel of the package was installed into."""
    folder, wheels = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("wheels")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(TOY)]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([*PIP, "--target", str(folder), *map(str, wheels.glob("*.whl"))], check=True, capture_output=True)
    return str(folder)


def run(site: str, data: Path, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    env = environment(data, **settings) | {"PYTHONPATH": python_path(site)}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, check=False, env=env, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE)


def test_the_page_on_extras_shows_this_package() -> None:
    page = (ROOT / "builder" / "docs" / "extras.md").read_text("utf-8")
    assert (TOY / "toy_extra.py").read_text("utf-8") in page
    entry = (TOY / "pyproject.toml").read_text("utf-8").split("[project.entry-points", 1)[1].split("\n\n")[0]
    assert f"[project.entry-points{entry}" in page


def test_its_command_stands_in_the_help_and_runs(site: str, tmp_path: Path) -> None:
    assert "Greet somebody." in run(site, tmp_path, "--help").stdout
    assert run(site, tmp_path, "toy", "Ada").stdout == "hello Ada\n"


def test_doctor_names_its_check(site: str, tmp_path: Path) -> None:
    findings = json.loads(run(site, tmp_path, "doctor", "--json", embedding__engine="none").stdout)
    assert {"part": "toy", "ok": True, "warning": False, "said": "greets default at no broker"} in findings
    assert findings[-1]["part"] == "core"


async def counted(client: Client) -> bool:
    return await client.request("count", {"id": "m1"}) == {"number": 1, "deliveries": 1}


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A folder of an author with a profile that wants the format of the package."""
    profiles = tmp_path / "templates" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "prompted.yaml").write_text("extends: default\nchat_format: prompt\n", "utf-8")
    return profiles.parent


async def test_its_store_is_used_its_request_is_answered_over_nats_and_http_and_its_job_and_door_run(
    site: str, templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", python_path(site))
    store = tmp_path / "toy.sqlite3"
    service = Running(
        tmp_path / "data",
        command=(*COMMAND, "up"),
        store__url=f"toy:{store}",
        embedding__engine="none",
        templates_dir=templates,
    )
    with service:
        async with connect(service.url) as client, Api(service.http, token_of(service)) as api:
            await asyncio.wait_for(client.ask("s1", "Where is the kiln?", message_id="m1"), DEADLINE)
            assert (await client._connection.request("toy.bell", b"", timeout=DEADLINE)).data == b"context-builder"
            await until(lambda: counted(client), "its job to hear of the delivery")
            assert (await api.post("/v1/count", id="m1")).json == {"number": 1, "deliveries": 1}
            with pytest.raises(Rejected, match="there is no breadcrumb 'm2'"):
                await client.request("count", {"id": "m2"})
            assert (await api.post("/v1/count", id="m2")).status == 404
            assert (await api.post("/v1/count", number=1)).status == 400
            page = await asyncio.wait_for(client.ask("s1", "And how hot is it?", consumer="prompted"), DEADLINE)
            assert page.messages == [{"prompt": page.content}]
            document = (await api.get("/openapi.json")).json
    assert document["paths"]["/v1/count"]["post"]["summary"] == "How many versions a breadcrumb has."
    *_, prompts, nothing = document["components"]["schemas"]["AgentContextV1"]["properties"]["messages"]["anyOf"]
    assert prompts == {"items": {"additionalProperties": {"type": "string"}, "type": "object"}, "type": "array"}
    assert nothing == {"type": "null"}
    assert store.exists()
    assert "0 deliveries" in (tmp_path / "data" / "log").read_text("utf-8")


def test_a_format_that_is_not_installed_is_named_at_the_start_and_by_the_checks(templates: Path, tmp_path: Path) -> None:
    problem = "profiles/prompted.yaml line 2: `chat_format`: no installed extra brings 'prompt'; use one of anthropic, none, "
    started = run("", tmp_path, "up", embedding__engine="none", templates_dir=templates)
    assert (started.returncode, problem in started.stderr) == (78, True)
    for command in (("doctor",), ("profiles", "lint")):
        found = run("", tmp_path, *command, embedding__engine="none", templates_dir=templates)
        assert (found.returncode != 0, problem in found.stdout + found.stderr) == (True, True), command


def test_an_extra_that_cannot_be_loaded_is_named_with_its_package(tmp_path: Path) -> None:
    broken = tmp_path / "site" / "broken-1.0.dist-info"
    broken.mkdir(parents=True)
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", "utf-8")
    (broken / "entry_points.txt").write_text("[context_builder.extras]\nbroken = nothing_there:extra\n", "utf-8")
    ended = run(str(broken.parent), tmp_path, "--help")
    assert ended.returncode == 78
    assert "the extra 'broken' (nothing_there:extra of broken) cannot be loaded: No module named 'nothing_there'" in ended.stderr


@pytest.mark.parametrize("text", ["extra = (", "1 / len(undefined)", "raise RuntimeError('no')"])
def test_an_extra_that_is_wrong_is_named_without_a_traceback(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "site"
    (folder / "odd-1.0.dist-info").mkdir(parents=True)
    (folder / "odd-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n", "utf-8")
    (folder / "odd-1.0.dist-info" / "entry_points.txt").write_text("[context_builder.extras]\nodd = odd_extra:extra\n", "utf-8")
    (folder / "odd_extra.py").write_text(text, "utf-8")
    ended = run(str(folder), tmp_path, "--help")
    assert (ended.returncode, "the extra 'odd' (odd_extra:extra of odd) cannot be loaded: " in ended.stderr) == (78, True)
    assert "Traceback" not in ended.stderr


def test_a_name_that_the_house_has_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "rival-1.0.dist-info").mkdir(parents=True)
    (folder / "rival-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n", "utf-8")
    (folder / "rival-1.0.dist-info" / "entry_points.txt").write_text("[context_builder.extras]\nrival = rival:extra\n", "utf-8")
    (folder / "rival.py").write_text(
        "from builder.extra import Extra\nextra = Extra(commands=lambda: {'search': print})\n", "utf-8"
    )
    ended = run(str(folder), tmp_path, "--help")
    assert ended.returncode == 78
    assert "the extra 'rival' brings 'search' to the commands, which has it already" in ended.stderr
