"""A context that was published is explained and built again, byte for byte, also after the templates were edited."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from builder.client import Client, Rejected, Unavailable, connect
from tests.commands import run
from tests.integration.inside import service_here, settings
from tests.integration.test_record_consumers import TRIGGER, define, publish
from tests.running import Broker, Running, all_settled, jetstream, say, wait_for

SESSION, UNCHANGED = "shop", "unchanged"
FACTS = (
    "The openrouter key goes into the secrets configuration, under Settings.",
    "We open from Tuesday to Saturday, ten to half past five.",
    "Tomasz packs the parcels and was born on 14 March.",
)
QUESTION = "Where does the openrouter key go?"
TALK = (
    "nobody came by, the weather was fine again today, and so I swept the shop from one end to the other and back, washed the "
    "windows, watered the plants, and put the new bowls into the rack by the door, where the light of the morning falls on them."
)
EDITED = "it is built with the profile and templates of then, which were edited since"
READ_AGAIN = "profiles and templates were read again"
ASKED_ALONG = 12
"""Requests of which each of two workers answers some."""
MANY_REPLAYS = 12
MUCH = 70
"""Messages after which a page shows the facts only as finds."""
HINT = "- {{ speaker }} said: {{ text | block }}\n"


def write_templates(folder: Path) -> Path:
    (folder / "hints").mkdir(parents=True)
    (folder / "profiles").mkdir()
    (folder / "profiles" / "brief.yaml").write_text("extends: default\ntriggers: []\nbudget: 120\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("explanations")
    templates = write_templates(folder / "templates")
    with Running(folder / "data", templates_dir=templates, embedding__engine="none") as running:
        yield running


@pytest.fixture
async def client(service: Running) -> AsyncIterator[Client]:
    async with connect(service.url, f"w{uuid4().hex[:12]}") as connected:
        yield connected


async def ask(client: Client, talk: int = 0) -> str:
    """A question after some facts and so many messages; the id of the question."""
    for number, fact in enumerate(FACTS):
        await client.send_user_message(SESSION, fact, message_id=f"{SESSION}-f{number}")
    for number in range(talk):
        await client.send_user_message(SESSION, f"Number {number}: {TALK}")
    context = await client.ask(SESSION, QUESTION)
    return context.trigger_event_id


@pytest.fixture(scope="module")
def asked(service: Running) -> str:
    """Id of a question on whose page the facts are finds; its workspace is changed by nobody."""

    async def prepare() -> str:
        async with connect(service.url, UNCHANGED) as client:
            return await ask(client, MUCH)

    return asyncio.run(prepare())


@pytest.fixture
async def reader(service: Running) -> AsyncIterator[Client]:
    async with connect(service.url, UNCHANGED) as connected:
        yield connected


async def explain(client: Client, trigger: str, **more: Any) -> dict[str, Any]:
    return await client.request("explain", {"trigger": trigger, **more})


async def test_the_receipt_is_that_of_the_published_page(reader: Client, asked: str) -> None:
    published = await reader.request("context", {"trigger": asked})
    answer = await explain(reader, asked)
    assert (answer["is_same"], answer["notes"]) == (True, [])
    assert answer["content"] == published["content"]
    receipt = answer["receipt"]
    by_id = {part["source"]["id"]: part for part in receipt["parts"] if "source" in part}
    assert {name for section in published["sections"] for name in section["ids"]} == by_id.keys()
    found = by_id[f"{SESSION}-f0"]
    (conversation,) = (section for section in published["sections"] if section["name"] == "conversation")
    assert found["evidence"]["probability"] == conversation["probability_by_id"][f"{SESSION}-f0"]
    line = published["content"].split("\n")[found["first"] - 1]
    assert FACTS[0] in line
    assert receipt["by_reason"] == published["omissions"]["by_reason"]
    assert len(receipt["absent"]) == min(sum(receipt["by_reason"].values()), 50)
    assert list(answer["times"]) == ["wait", "catch_up", "embedding", "recall", "page"]
    few = await explain(reader, asked, most=3)
    assert few["receipt"]["absent"] == receipt["absent"][:3]


async def test_a_replay_gives_the_published_bytes_also_with_templates_that_were_edited_since(tmp_path: Path) -> None:
    templates = write_templates(tmp_path / "templates")
    with Running(tmp_path / "data", templates_dir=templates, embedding__engine="none") as service:
        async with connect(service.url) as client:
            await check_replay_after_an_edit(client, service, templates)


async def check_replay_after_an_edit(client: Client, service: Running, templates: Path) -> None:
    trigger = await ask(client, MUCH)
    (templates / "hints" / "user.message.v1.md.j2").write_text(HINT, "utf-8")
    wait_for(lambda: READ_AGAIN in service.said(), "the edit to be read")
    answer = await client.request("replay", {"trigger": trigger})
    assert answer["is_same"] is True
    assert answer["before"] == answer["after"]
    assert answer["notes"] == [EDITED]
    present = await client.ask(SESSION, "And what does Tomasz do?")
    assert "User said: And what" in present.content
    done = run("replay", trigger, env=service.env)
    assert (done.returncode, "the same bytes as the published event" in done.stdout) == (0, True)


async def test_a_refreshed_page_is_explained_by_its_place(client: Client, service: Running) -> None:
    first = await client.ask(SESSION, QUESTION)
    name = {"trigger": first.trigger_event_id, "consumer": "default"}
    await client.send("agent.response.v1", {"message": "The shop is shut.", "trigger_event_id": "nobody"}, session=SESSION)
    fresh = await client.request("refresh", name)
    await client.send("agent.response.v1", {"message": "It opens.", "trigger_event_id": "nobody"}, session=SESSION)
    place = str(fresh["as_of"])
    done = run("explain", first.trigger_event_id, "--as-of", place, "--workspace", client.workspace, "--json", env=service.env)
    assert json.loads(done.stdout)["content"] == fresh["content"] != first.content
    assert "The shop is shut." in fresh["content"]
    shown = run(
        "why", first.trigger_event_id, "-t", first.trigger_event_id, "--as-of", place, "-w", client.workspace, env=service.env
    )
    assert f"refreshed as of sequence {fresh['as_of']:,}" in shown.stdout + shown.stderr


async def test_a_session_names_its_last_context(reader: Client, asked: str) -> None:
    answer = await reader.request("explain", {"session": SESSION})
    assert (answer["trigger"], answer["is_same"]) == (asked, True)
    with pytest.raises(Rejected, match="no context of 'default' in session 'empty' is kept; name the trigger"):
        await reader.request("explain", {"session": "empty"})
    with pytest.raises(Rejected, match="neither a trigger nor a session is named; name one of them"):
        await reader.request("explain", {})


async def test_other_files_and_another_profile_show_what_they_would_change(reader: Client, asked: str) -> None:
    answer = await reader.request("replay", {"trigger": asked, "files": {"hints/user.message.v1.md.j2": HINT}})
    assert f"User: {QUESTION}" in answer["before"]["content"]
    assert f"User said: {QUESTION}" in answer["after"]["content"]
    assert answer["before"]["id"] == answer["after"]["id"]
    brief = await reader.request("replay", {"trigger": asked, "profile": "brief"})
    assert brief["after"]["token_count"] <= 120 < brief["before"]["token_count"]
    assert brief["after"]["id"] == brief["before"]["id"]
    minimal = await reader.request("replay", {"trigger": asked, "profile": "minimal"})
    assert (minimal["after"]["consumer_id"], minimal["after"]["id"]) == ("default", minimal["before"]["id"])
    hint = f"- {{{{ 1 / (text | length - {len(QUESTION)}) }}}} {{{{ text }}}}"
    failing = await reader.request("replay", {"trigger": asked, "files": {"hints/user.message.v1.md.j2": hint}})
    assert failing["failures"] == ["hints/user.message.v1.md.j2: line 1: ZeroDivisionError; the generic hint is shown"]


SLOW = "{% for a in text[:100] * 30 %}{% if loop.last %}- {{ speaker }}: {{ text | block }}{% endif %}{% endfor %}"


async def test_replays_with_slow_files_wait_for_each_other_and_nobody_else_waits_for_them(
    reader: Client, asked: str, service: Running
) -> None:

    async def replay() -> str:
        try:
            answer = await reader.request("replay", {"trigger": asked, "files": {"hints/user.message.v1.md.j2": SLOW}})
        except Unavailable as error:
            return str(error)
        return str(answer["after"]["id"])

    replays = [asyncio.create_task(replay()) for _ in range(MANY_REPLAYS)]
    await asyncio.wait(replays, return_when=asyncio.FIRST_COMPLETED)
    async with connect(service.url, f"w{uuid4().hex[:12]}") as other:
        await explain(other, (await other.ask(SESSION, QUESTION)).trigger_event_id)
    assert not all(task.done() for task in replays)
    answers = await asyncio.gather(*replays)
    assert any("other replays with files or profiles are waiting; send it again in a moment" in answer for answer in answers)
    assert len({answer for answer in answers if "waiting" not in answer}) == 1


async def test_files_that_cannot_be_used_are_refused_with_file_and_line_and_change_nothing(reader: Client, asked: str) -> None:
    with pytest.raises(Rejected, match=r"hints/user\.message\.v1\.md\.j2 line 1: there is no filter 'bloc'; write block"):
        await reader.request("replay", {"trigger": asked, "files": {"hints/user.message.v1.md.j2": "{{ text | bloc }}"}})
    with pytest.raises(Rejected, match=r"there is no profile 'defualt'; write default"):
        await reader.request("replay", {"trigger": asked, "profile": "defualt"})
    assert (await explain(reader, asked))["is_same"] is True


async def test_why_answers_for_each_breadcrumb_in_a_sentence(client: Client, service: Running) -> None:
    other = (await client.ask("other", QUESTION)).trigger_event_id
    trigger = await ask(client, MUCH)
    await client.send_user_message(SESSION, "One more thing.", message_id="late")
    await client.send_user_message(SESSION, "A secret wish.", message_id="gone")
    async with jetstream(service.url) as js:
        await all_settled(js)
    await client.forget("gone")

    async def why(name: str) -> str:
        return str((await client.request("why", {"id": name, "trigger": trigger}))["sentence"])

    assert "is on the page, line " in await why(f"{SESSION}-f0")
    assert "probability " in await why(f"{SESSION}-f1")
    assert (await why("late")).endswith("is not on the page: it came after the message to answer.")
    assert "it is of session other, and profile 'default' looks into `retrieval.scope: session`" in await why(other)
    assert await why("gone") == "gone is not on the page: it was erased."
    with pytest.raises(Rejected, match="there is no breadcrumb 'm4711' in workspace "):
        await why("m4711")


async def test_a_context_that_was_erased_is_built_as_it_would_be_now_and_says_so(client: Client) -> None:
    trigger = await ask(client)
    await client.forget(f"{SESSION}-f0")
    answer = await explain(client, trigger)
    assert answer["is_same"] is None
    assert "the published context is not kept, or there was none: contexts are kept for 24 hours" in answer["notes"][0]
    assert FACTS[0] not in answer["content"]


async def test_a_page_that_nobody_asked_for_says_so(reader: Client, asked: str) -> None:
    answer = await explain(reader, asked, consumer="brief")
    assert answer["is_same"] is None
    assert answer["notes"] == [
        f"{asked} asks for no context of brief, so none was published; this is how today's profile and templates would make it"
    ]


async def test_an_answer_of_no_session_is_explained_under_the_session_of_its_call_and_under_its_own(
    client: Client, service: Running
) -> None:
    call = {"message": "", "tool_requests": [{"requestId": "c1", "tool": "look", "input": {}}]}
    async with jetstream(service.url) as js:
        await say(js, "", SESSION, "calls", client.workspace, schema="agent.response.v1", body=call)
        result = {"request_id": "c1", "tool": "look", "output": "Two bowls."}
        await say(js, "", "_", "r1", client.workspace, schema="tool.response.v1", body=result)
        await all_settled(js)
    pages = [await explain(client, "r1", consumer="brief", session=session) for session in ("", SESSION, "_")]
    assert pages[0] == pages[1] == pages[2]
    assert "Two bowls." in str(pages[0])


async def test_a_trigger_that_is_not_there_or_asks_for_nothing_is_refused(client: Client) -> None:
    trigger = await ask(client)
    with pytest.raises(Rejected, match=r"there is no breadcrumb 'm1' in workspace .*, or it was erased"):
        await explain(client, "m1")
    with pytest.raises(Rejected, match=r"there is no breadcrumb .* in session 'elsewhere' of workspace "):
        await explain(client, trigger, session="elsewhere")
    note = await client.send_response(await client.ask(SESSION, "Thanks, bye."), "Bye.")
    with pytest.raises(Rejected, match="asks for no context; name the consumer whose page it would be"):
        await explain(client, note.id)


def read_again(service: Running, times: int) -> bool:
    return service.said().count(READ_AGAIN) >= times


async def test_contexts_of_a_consumer_that_a_record_makes_are_built_again_after_an_edit(tmp_path: Path) -> None:
    templates = write_templates(tmp_path / "templates")
    with Running(tmp_path / "data", templates_dir=templates, embedding__engine="none") as service:
        async with jetstream(service.url) as js, connect(service.url, "acme") as client:
            await define(js, "clerk", context_trigger=TRIGGER, context_builder={"budget": 900})
            await say(js, QUESTION, SESSION, "m1")
            await all_settled(js)
            for number, text in enumerate((HINT, f"{HINT}\n")):
                (templates / "hints" / "user.message.v1.md.j2").write_text(text, "utf-8")
                wait_for(partial(read_again, service, number + 1), "the edit to be read")
            answer = await explain(client, "m1", consumer="clerk")
            assert (answer["is_same"], answer["notes"]) == (True, [EDITED])
            await define(js, "clerk", 2, context_trigger=TRIGGER, context_builder={"budget": 800})
            assert (await explain(client, "m1", consumer="clerk"))["is_same"] is True


async def test_what_another_worker_has_erased_is_explained_by_none(tmp_path: Path, broker: Broker) -> None:
    one, two = settings(tmp_path / "one", broker.url), settings(tmp_path / "two", broker.url)
    async with service_here(one) as service, service_here(two), connect(broker.url, "erased") as client:
        trigger = await ask(client)
        for _ in range(ASKED_ALONG):
            assert FACTS[0] in (await explain(client, trigger))["content"]
        body = {"breadcrumb_id": f"{SESSION}-f0"}
        await publish(service.js, "breadcrumb.deleted.v1", "gone", body, workspace="erased", session=SESSION)
        await all_settled(service.js)
        for _ in range(ASKED_ALONG):
            assert FACTS[0] not in (await explain(client, trigger))["content"]
