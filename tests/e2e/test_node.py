"""In Node: the npm package and the page of plain clients against the real service, and the official validator of AsyncAPI."""

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.extras.contracts.asyncapi import HEADERS, asyncapi_text
from tests.commands import COMMAND
from tests.integration.profiles import with_profiles
from tests.node import PACKAGE, modules, node, npm, project
from tests.running import ROOT, Broker, Running

SCHEMAS = ROOT / "schemas"
PAGE = (ROOT / "builder" / "docs" / "plain-clients.md").read_text("utf-8")
WEBSOCKET = 'websocket { host: "127.0.0.1", port: -1, no_tls: true }\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the module."""
    return tmp_path_factory.mktemp("node")


@pytest.fixture(scope="module")
def package(folder: Path) -> Path:
    """The package, compiled."""
    (folder / "package").mkdir()
    return project(folder / "package")


@pytest.fixture(scope="module")
def addresses(folder: Path) -> Iterator[dict[str, str]]:
    """Where the broker of a running service listens, as the environment of the tests in Node."""
    with (
        Broker(folder / "broker", configuration=WEBSOCKET) as broker,
        Running(folder / "service", broker.url, embedding__engine="none"),
    ):
        (ports,) = (folder / "broker").glob("*.ports")
        (websocket,) = json.loads(ports.read_text("utf-8"))["websocket"]
        yield {"NATS_URL": broker.url, "NATS_WEBSOCKET": websocket, "SCHEMAS": str(SCHEMAS)}


def test_the_package_does_over_both_transports_what_the_python_client_does(package: Path, addresses: dict[str, str]) -> None:
    options = ("--test", "--test-force-exit", "--test-timeout=120000", "--test-reporter=tap")
    said = node(package, *options, "test/client.test.mjs", **addresses)
    assert re.search(r"^# pass 9\n# fail 0\n", said, re.MULTILINE), said


def test_an_agent_serves_with_the_printed_rights_and_waits_where_no_service_is(package: Path, folder: Path) -> None:
    page = (ROOT / "builder" / "docs" / "permissions.md").read_text("utf-8")
    (users,) = re.findall(r"<!-- least privilege: .*? -->\n\n```conf\n(.*?)```", page, re.DOTALL)
    templates = with_profiles(folder, {"weather": "extends: default\n"})
    with Broker(folder / "guarded", configuration=users) as broker:
        worker = broker.url.replace("//", "//worker:secret@")
        with Running(folder / "worker", worker, (COMMAND, "worker"), embedding__engine="none", templates_dir=templates):
            options = ("--test", "--test-force-exit", "--test-timeout=60000", "--test-reporter=tap")
            said = node(package, *options, "test/rights.test.mjs", NATS_URL=broker.url, SCHEMAS=str(SCHEMAS))
    assert re.search(r"^# pass 2\n# fail 0\n", said, re.MULTILINE), said


def test_its_types_are_those_of_the_schemas(package: Path) -> None:
    (package.parents[0] / "schemas").mkdir()
    types = (package / "types.mjs").read_text("utf-8")
    (package / "types.mjs").write_text(types.replace("../../schemas/", f"{SCHEMAS.as_uri()}/"), "utf-8")
    assert node(package, "types.mjs", "--check") == ""


def test_it_is_packed_and_the_code_of_its_page_runs(package: Path, addresses: dict[str, str], folder: Path) -> None:
    home = folder / "home"
    installed = home / "node_modules" / "breadcrumb-context-builder"
    installed.parent.mkdir(parents=True)
    (name,) = (each["filename"] for each in json.loads(npm(package, "pack", "--json", "--pack-destination", str(home))))
    with tarfile.open(home / name) as archive:
        assert {
            "package/README.md",
            "package/LICENSE",
            "package/package.json",
            "package/dist/index.js",
            "package/dist/index.d.ts",
        } <= {*archive.getnames()}
        assert not [
            member for member in archive.getnames() if not re.match(r"package/(dist/|README|LICENSE|package\.json)", member)
        ]
        archive.extractall(home, filter="data")
    (home / "package").rename(installed)
    (installed / "node_modules").symlink_to(modules())
    (code,) = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.DOTALL)
    (home / "readme.mjs").write_text(code, "utf-8")
    assert node(home, "readme.mjs", **addresses).splitlines()[-1] == "In the yard."


def test_its_lock_has_hashes_and_names_no_registry() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text("utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert [name for name, each in packages.items() if "resolved" in each or not each.get("integrity")] == []


def test_the_official_validator_of_asyncapi_finds_nothing(package: Path) -> None:
    code = """
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
const { document, diagnostics } = await new Parser().parse(readFileSync("document.json", "utf8"));
const found = diagnostics.filter(({ code }) => code !== "asyncapi-latest-version");
console.log(document?.channels().length, JSON.stringify(found));
"""
    (package / "validate.mjs").write_text(code, "utf-8")
    document, text = package / "document.json", asyncapi_text()
    document.write_text(text, "utf-8")
    assert node(package, "validate.mjs") == f"{len(json.loads(text)['channels'])} []\n"
    document.write_text(text.replace('"action": "receive"', '"action": "hear"', 1), "utf-8")
    assert '"code":"asyncapi' in node(package, "validate.mjs")


def test_the_commands_of_the_page_of_plain_clients_work(package: Path, addresses: dict[str, str]) -> None:
    commands = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    assert all(line.startswith("nats ") for line in commands)
    answers = json.loads(node(package, "test/commands.mjs", *commands, **addresses))
    assert len(answers) == len(commands)
    durable, sent, context, answered, history, fetched, found, again, info, stats = answers
    assert (durable["name"], durable["config"]["max_deliver"]) == ("acme=default", -1)
    assert (sent["stream"], answered["seq"]) == ("BREADCRUMBS", sent["seq"] + 1)
    assert context["content"].rstrip().endswith("Where does the kiln stand?")
    assert [each["text"] for each in history["breadcrumbs"]] == ["Where does the kiln stand?", "In the yard."]
    assert fetched["id"] == context["trigger_event_id"] == "m1"
    assert "m1" in [each["id"] for each in found["passages"]]
    assert again == context
    assert {"fetch", "search"} <= {each["name"] for each in info["endpoints"]}
    assert sum(each["num_requests"] for each in stats["endpoints"]) >= 4


@pytest.mark.parametrize("language", ["go", "rust"])
def test_subjects_and_headers_of_a_snippet_are_those_of_the_document(language: str) -> None:
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    addresses = [channel["address"] for channel in json.loads(asyncapi_text())["channels"].values() if channel["address"]]
    subjects = re.findall(r'"((?:breadcrumbs|contexts|requests)\.[^"]*)"', code)
    headers = re.findall(r'"((?:Nats|Context-Builder)-[^"]*)"', code)
    assert len(subjects) >= 3
    assert {*headers} == {"Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence"} <= HEADERS.keys()
    for subject in subjects:
        forms = [re.sub(r"\{schema\}", r"[\\w.]+", address) for address in addresses]
        assert any(re.fullmatch(re.sub(r"\{\w+\}", r"[\\w>.]+", form), subject) for form in forms), subject
