"""Every code block of the README and of `builder/docs` is run by a test, or marked as output; every command exists."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from builder.cli.registry import application
from builder.client.sync import connect
from tests.commands import run_script
from tests.models import MODELS_DIR, prepared
from tests.running import Running

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "builder" / "docs"
SAMPLES = ROOT / "tests" / "bench" / "samples"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n\n?)?^```(?P<language>\w*)(?: (?P<file>[^\n]+))?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
WHOLE_PAGES = dict.fromkeys(("first-hour.md", "templates.md", "llm-hints.md"), "tests/e2e/test_template_guide.py")
"""Pages of which one test reads every block, so that none needs a mark."""
OUTPUT = re.compile(r"output\b")


def blocks(page: Path) -> list[re.Match[str]]:
    return list(FENCE.finditer(page.read_text("utf-8")))


def is_output(block: re.Match[str]) -> bool:
    return block["language"] == "text" or bool(OUTPUT.match(block["mark"] or ""))


def is_covered(page: Path, block: re.Match[str]) -> bool:
    """Whether it is output, or a test that names this page runs it."""
    if is_output(block):
        return True
    names = re.findall(r"tests/[\w/]+\.py", f"{block['mark'] or ''} {WHOLE_PAGES.get(page.name, '')}")
    return any((ROOT / name).is_file() and page.name in (ROOT / name).read_text("utf-8") for name in names)


def test_each_code_block_is_run_by_a_test_or_is_output() -> None:
    found = {page.name: [block["text"] for block in blocks(page) if not is_covered(page, block)] for page in PAGES}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_each_page_has_something_that_a_reader_can_run() -> None:
    """Decisions are no guides."""
    runnable = {page for page in PAGES for block in blocks(page) if is_covered(page, block) and not is_output(block)}
    assert [page.name for page in PAGES if page not in runnable and page.parent.name != "decisions"] == []


def test_a_block_without_a_mark_and_one_that_no_test_runs_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nls\n```\n\n<!-- run: tests/e2e/test_nothing.py -->\n\n```sh\nls\n```\n\n"
        "<!-- run: tests/e2e/test_chart.py -->\n```sh\nls\n```\n\n<!-- output: of ls -->\n```\nfile\n```\n\n```text\nfile\n```\n",
        "utf-8",
    )
    assert [is_covered(page, block) for block in blocks(page)] == [False, False, False, True, True]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with one message that was answered."""
    prepared()
    with Running(tmp_path_factory.mktemp("docs"), embedding__models_dir=MODELS_DIR) as running:
        with connect(running.url) as client:
            client.send_user_message("s42", "I have an API key of OpenRouter.", message_id="m7")
            client.send_response(client.ask("s42", "Where does the API key go?", message_id="m42"), "Under Secrets.")
        yield running


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the files that the commands of the docs name: LoCoMo's file, BEAM's chats, LongMemEval's file."""
    first, second = json.loads((SAMPLES / "locomo10.json").read_text("utf-8"))
    samples = [first, second, second | {"sample_id": "conv-3"}]
    (tmp_path / "locomo10.json").write_text(json.dumps(samples), "utf-8")
    chats = Path("BEAM") / "chats" / "100K"
    for number in "1234":
        shutil.copytree(SAMPLES / chats / "1", tmp_path / chats / number)
    shutil.copy(SAMPLES / "longmemeval_s.json", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("explain.md", ["byte for byte", "m7 v1 (user.message.v1, User) is on the page, line", "the same bytes", "page "]),
        ("cost.md", ["whole conversation", "last 20 messages", '"cached": ']),
        ("messages.md", ["measure", "1180", "- User: Then open it."]),
        ("times.md", ["[4 May 2026]", "[5 May 2026]", "without a zone"]),
        ("summaries.md", ["nothing was summarised: the session has no units beyond those that are kept"]),
        ("operations.md", ["store", "broker"]),
        ("runbook.md", ["store", "no dead letters"]),
        ("page.md", ["I have an API key of OpenRouter."]),
        ("internals/page.md", ["I have an API key of OpenRouter."]),
        ("search.md", ["I have an API key of OpenRouter."]),
        ("architecture.md", ['"is_same": true']),
        (
            "benchmarks.md",
            [
                "locomo[0,1,2]: conversations 3, messages 10, questions 6",
                "beam-100k[1,2,3,4]: conversations 4",
                "longmemeval_s[0,1,2]: conversations 2, messages 12, questions 2",
                "left out: questions of abstention (_abs), which the history does not answer: 1",
                "evidence_sessions_any",
            ],
        ),
    ],
)
def test_the_commands_of_a_page_run(service: Running, desk: Path, page: str, words: list[str]) -> None:
    marked = [block for block in blocks(DOCS / page) if (block["mark"] or "").startswith("run: tests/e2e/test_docs.py")]
    for file in (block for block in marked if block["file"]):
        (desk / file["file"]).write_text(file["text"], "utf-8")
    scripts = [block["text"] for block in marked if not block["file"]]
    assert scripts
    for script in scripts:
        done = run_script(script, service.env | {"COLUMNS": "200"}, desk)
        assert done.returncode == 0, done.stderr
        assert [word for word in words if word not in done.stdout + done.stderr] == []


def test_every_command_of_the_docs_exists() -> None:
    """`profiles.md` lists commands in a block of its own."""
    tree = get_command(application)
    command_line = re.compile(r"(?:`|^)context-builder ([a-z][a-z-]*(?: [a-z][a-z-]*)*)", re.MULTILINE)
    lines = [(page.name, words) for page in PAGES for words in command_line.findall(page.read_text("utf-8"))]
    for page, words in lines:
        command: Any = tree
        for word in words.split():
            if not hasattr(command, "commands"):
                break
            assert word in command.commands, (page, words)
            command = command.commands[word]
