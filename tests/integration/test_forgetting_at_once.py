"""A person or a session is forgotten by one request: what was of it is nowhere, and nobody else loses a word."""

import json
from asyncio import to_thread
from pathlib import Path

import pytest

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.client import Rejected, connect
from builder.wire.subjects import session_token
from tests.commands import run
from tests.integration.inside import service_here, settings
from tests.integration.test_forgetting import files_with, held
from tests.running import Broker, all_settled, dead_letters, environment, jetstream, say, until

TOKEN = session_token("ada's talk")


async def test_a_session_is_forgotten_with_its_contexts_letters_and_files_and_what_comes_later_is_a_new_beginning(
    tmp_path: Path, broker: Broker, folder: Path
) -> None:
    async with service_here(settings(tmp_path, broker.url)), connect(broker.url, "g1") as client, jetstream(broker.url) as js:
        for number in range(3):
            await client.send_user_message("ada's talk", f"The code is medlar-{number}.", message_id=f"m{number}")
        call = {"tool_requests": [{"request_id": "c1", "tool": "codes", "input": {"of": "medlar-7"}}], "message": "I look."}
        await say(js, "", TOKEN, "r1", "g1", schema="agent.response.v1", body=call)
        result = {"request_id": "c1", "tool": "codes", "output": "It is medlar-8."}
        await say(js, "", "_", "t1", "g1", schema="tool.response.v1", body=result)
        subject = f"breadcrumbs.g1.{TOKEN}.note.v1"
        await js.publish(subject, b'{"id": "m9", "context": "medlar-9"}', stream=BREADCRUMBS)
        await client.send_user_message("elsewhere", "Nothing of that.", message_id="e1")
        await all_settled(js)
        assert len([letter for letter in await dead_letters(js) if ".g1." in letter["subject"]]) == 1
        assert files_with(tmp_path, b"medlar")

        steps: list[tuple[int, int]] = []
        receipt = await client.forget_session("ada's talk", by="Eve", progress=lambda *step: steps.append(step))
        assert {each.id for each in receipt.receipts} == {"m0", "m1", "m2", "r1", "t1"}
        assert {each.by for each in receipt.receipts} == {"Eve"}
        assert (receipt.sessions, receipt.other_letters, steps) == (("_", "ada's talk"), 1, [(5, 5)])
        assert sum(each.contexts for each in receipt.receipts) >= 3
        await all_settled(js)
        everywhere = [*await held(js, BREADCRUMBS), *await held(js, CONTEXTS)]
        assert [data for data in everywhere if b"medlar" in data] == []
        assert [letter for letter in await dead_letters(js) if ".g1." in letter["subject"]] == []
        assert files_with(tmp_path, b"medlar") == files_with(folder, b"medlar") == []
        assert (await client.forget_session("ada's talk")).receipts == ()

        await say(js, "The code is medlar-0.", TOKEN, "m0", "g1", version=2)
        context = await client.ask("ada's talk", "Which code is it?", message_id="n1")
        assert "medlar" not in context.content
        assert [crumb.id async for crumb in client.history("ada's talk")] == ["n1"]
        assert [crumb.id async for crumb in client.history("elsewhere")] == ["e1"]
        with pytest.raises(Rejected, match="everybody's"):
            await client.forget_session("_")


async def test_a_person_is_forgotten_beside_a_second_worker_and_a_run_that_was_cut_off_is_finished_by_the_next(
    tmp_path: Path, broker: Broker
) -> None:
    one, other = settings(tmp_path / "one", broker.url), settings(tmp_path / "other", broker.url)
    async with (
        service_here(one), service_here(other), connect(broker.url, "g2") as client, jetstream(broker.url) as js,
    ):  # fmt: skip
        for number in range(12):
            await say(js, f"My code is sorb-{number}.", f"s{number % 3}", f"m{number}", "g2", user_id="ada")
        await say(js, "Mine is not told.", "s9", "b1", "g2", user_id="ben")
        await all_settled(js)
        # What a request leaves that was cut off after its second tombstone.
        for number in range(2):
            body = {"breadcrumb_id": f"m{number}"}
            await say(js, "", f"s{number}", f"d{number}", "g2", schema="breadcrumb.deleted.v1", body=body)
        receipt = await client.forget_person("ada")
        assert {each.id for each in receipt.receipts} | {"m0", "m1"} == {f"m{number}" for number in range(12)}
        await all_settled(js)
        everywhere = [*await held(js, BREADCRUMBS), *await held(js, CONTEXTS)]
        assert [data for data in everywhere if b"sorb" in data] == []
        assert (await client.fetch("b1")).text == "Mine is not told."

        async def is_gone() -> bool:
            return files_with(tmp_path, b"sorb") == []

        await until(is_gone, "the second worker to follow the tombstones")
    assert files_with(tmp_path, b"sorb") == []


async def test_the_command_line_forgets_a_session_by_its_name(tmp_path: Path, broker: Broker) -> None:
    async with service_here(settings(tmp_path, broker.url)) as service, connect(broker.url, "g3") as client:
        await client.send_user_message("first talk", "This is the first one.", message_id="m1")
        await all_settled(service.js)
        words = ("forget", "--session", "first talk", "--by", "Eve", "--workspace", "g3", "--servers", broker.url)
        receipt = json.loads((await to_thread(run, *words, "--json", env=environment(tmp_path))).stdout)
        assert (receipt["session"], receipt["breadcrumbs"], receipt["by"]) == ("first talk", 1, "Eve")
        assert "nothing of first talk is remembered" in (await to_thread(run, *words, env=environment(tmp_path))).stderr
        both = await to_thread(run, *words, "--user", "ada", env=environment(tmp_path))
        assert "give ids, --user or --session" in both.stderr
