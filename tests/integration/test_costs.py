"""What pages cost, read from the streams of a real service; the table of cost.md is that of the sample."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest

from builder.app.components import counter
from builder.client import connect
from builder.extras.explain.published import LAST, PAGE, WHOLE, SentPage, break_even
from tests.commands import DEADLINE, run
from tests.integration.profiles import with_profiles
from tests.models import MODELS_DIR, prepared
from tests.running import Running, all_settled, jetstream

PAGE_FILE = Path(__file__).parents[2] / "builder" / "docs" / "cost.md"
SAMPLE = re.compile(r"(<!-- sample: .*? -->\n)(.*?)(<!-- end of sample -->)", re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?<!,)")
TURNS = 3
ANSWER = "Kiln three is free until noon."


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A service with a consumer that nobody reads."""
    templates = with_profiles(tmp_path, {"attic": "extends: default\n"})
    with Running(tmp_path / "data", templates_dir=templates, embedding__engine="none") as running:
        yield running


async def test_costs_are_those_of_the_contexts_of_the_last_day(service: Running) -> None:
    words = [f"Question {number}: which kiln is free? {'I have waited for it since noon. ' * 15}" for number in range(TURNS)]
    async with connect(service.url, "acme") as client, client.subscribed("default") as pages:
        for text in words:
            await client.send_user_message("s1", text)
            context = await anext(pages)
            await client.send_response(context, ANSWER)
        forgotten = await client.ask("s2", "My number is 4711.")
        await client.forget(forgotten.trigger_event_id)
    async with jetstream(service.url) as js:
        await all_settled(js)
    outcome = run("cost", "--workspace", "acme", "--json", env=service.env)
    row, attic = sorted(json.loads(outcome.stdout), key=lambda each: str(each["consumer"] == "attic"))
    assert (row["consumer"], row["contexts"], attic["contexts"]) == ("default", TURNS, TURNS)
    whole = [sum(map(counter(), [*words[: turn + 1], *[ANSWER] * turn])) for turn in range(TURNS)]
    assert row["sent"]["whole conversation"]["tokens"] == round(fmean(whole), 1)
    assert row["sent"]["whole conversation"] == row["sent"]["last 20 messages"]
    shown = run("cost", "--workspace", "acme", env=service.env).stdout
    assert "attic: 3 contexts\n" in shown
    assert run("cost", "--workspace", "nobody", env=service.env).stderr.startswith("no contexts in the last 24 hours")


def block(name: str) -> str:
    """The text of the page's file of this name."""
    (text,) = re.findall(rf"^```\w+ {re.escape(name)}\n(.*?)^```$", PAGE_FILE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return str(text)


async def test_the_page_has_what_cost_prints_for_the_sample_and_says_what_it_means(tmp_path: Path) -> None:
    prepared()
    profiles = {name: block(f"profiles/{name}.yaml") for name in ("small", "whole")}
    templates = with_profiles(tmp_path, profiles)
    (tmp_path / "play_sample.py").write_text(block("play_sample.py"), "utf-8")
    with Running(tmp_path / "data", templates_dir=templates, embedding__models_dir=MODELS_DIR) as running:
        command = [sys.executable, "play_sample.py", running.url]
        await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, env=running.env, timeout=DEADLINE, check=True)
        async with jetstream(running.url) as js:
            await all_settled(js)
        output = run("cost", env=running.env | {"COLUMNS": "200"}).stdout
        rows = {row["consumer"]: row for row in json.loads(run("cost", "--json", env=running.env).stdout)}
    cost = {name: {form: sent["cost"] for form, sent in row["sent"].items()} for name, row in rows.items()}
    even = {name: row["break_even"] for name, row in rows.items()}
    assert even["whole"] is None
    assert cost["small"][PAGE] < cost["small"][WHOLE] < cost["whole"][PAGE] < cost["default"][PAGE]
    words = (
        "With a warm cache a default page costs "
        f"{cost['default'][PAGE] / cost['default'][WHOLE]:.1f} times as much as the whole conversation of this short session; "
        f"it pays from {even['default']['cached']:,} tokens on.\nA page of 500 tokens pays from {even['small']['cached']:,} on, "
        f"which this session reaches. The page of `whole` costs {cost['whole'][PAGE] / cost['whole'][WHOLE]:.1f} times as much."
    )
    text = PAGE_FILE.read_text("utf-8")
    filled = SAMPLE.sub(lambda match: f"{match[1]}\n```text\n{output.strip()}\n```\n\n{words}\n\n{match[3]}", text)
    if os.environ.get("UPDATE_DOCS"):
        PAGE_FILE.write_text(filled, "utf-8")
    (there,), (here,) = SAMPLE.findall(PAGE_FILE.read_text("utf-8")), SAMPLE.findall(filled)
    assert NUMBER.sub("", there[1]).split() == NUMBER.sub("", here[1]).split()
    assert list(numbers(there[1])) == pytest.approx(list(numbers(here[1])), rel=0.05), "vectors differ a little by machine"


def numbers(text: str) -> Iterator[float]:
    return (float(each.replace(",", "")) for each in NUMBER.findall(text))


def sent(page: tuple[int, int], whole: tuple[int, int], growth: int) -> SentPage:
    return SentPage(is_whole=False, forms={PAGE: page, WHOLE: whole, LAST: whole}, growth=growth)


@pytest.mark.parametrize(("page", "growth"), [((500, 0), 100), ((2000, 1024), 50)])
def test_at_the_break_even_both_cost_the_same(page: tuple[int, int], growth: int) -> None:
    even = break_even([sent(page, (9000, 8900), growth)])
    assert even is not None
    conversation = even["cached"]
    assert conversation - 0.9 * (conversation - growth) == pytest.approx(page[0] - 0.9 * page[1], abs=0.1)
    assert even["uncached"] == page[0]


def test_pages_that_have_everything_have_no_break_even() -> None:
    assert break_even([]) is None
