"""Two installations share one account of one broker, and each hears its own messages alone.

The broker grants each of them what the documentation lists, and nothing more.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest

from builder.client import Rejected, connect
from builder.extras.operations.purge_lock import PurgeLock
from builder.wire.subjects import Installation
from tests.commands import NOBODY_LISTENS, run
from tests.running import ROOT, Broker, Running, all_settled, jetstream, remembered, until

NAMES = ("context-builder", "staging")


def permissions() -> str:
    """The users of the broker as `builder/docs/permissions.md` writes them, with one more who may do everything."""
    page = (ROOT / "builder" / "docs" / "permissions.md").read_text("utf-8")
    block: str
    (block,) = re.findall(r"<!-- permissions of installations: .*? -->\n\n```conf\n(authorization.*?)```", page, re.DOTALL)
    end = block.rindex("]")
    return block[:end] + "  {user: observer, password: secret}\n" + block[end:]


def address(broker: Broker, user: str) -> str:
    return broker.url.replace("nats://", f"nats://{user}:secret@")


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[Broker]:
    with Broker(folder / "guarded", configuration=permissions()) as broker:
        yield broker


async def test_staging_and_production_share_an_account_and_hear_only_their_own(guarded: Broker, tmp_path: Path) -> None:
    production, staging = (Running(tmp_path / name, address(guarded, name), name=name, summaries__attempts=1) for name in NAMES)
    with production, staging:
        for running, name in zip((production, staging), NAMES, strict=True):
            sent = run("send", f"Hello {name}.", "-s", "s1", "--wait", "default", env=running.env)
            assert (sent.returncode, sent.stderr) == (0, NOBODY_LISTENS)
            assert f"Hello {name}." in sent.stdout
        for running, name, other in zip((production, staging), NAMES, reversed(NAMES), strict=True):
            rows = json.loads(run("history", "s1", "--json", env=running.env).stdout)
            assert [row["text"] for row in rows] == [f"Hello {name}."]
            assert len(remembered(tmp_path / name)) == 1
            assert f"Hello {other}." not in run("export", "s1", env=running.env).stdout
            (identity,) = (row["id"] for row in rows)
            receipt = json.loads(run("forget", identity, "--json", env=running.env).stdout)[0]
            assert (receipt["messages"], receipt["contexts"]) == (1, 1)
            assert "permissions violation" not in running.said().lower()
        async with jetstream(address(guarded, "observer")) as js:
            for name in NAMES:
                async with jetstream(address(guarded, name)) as own:
                    lock = PurgeLock(own, Installation(name))
                    assert [await lock.claim(), await lock.claim()] == [True, False]
                    await lock.release()
                    assert await lock.claim()
            names = {info.config.name for info in await js.streams_info()}
            assert names == {
                "BREADCRUMBS", "CONTEXTS", "DEADLETTERS", "PROBES", "KV_context-builder-workers",
                "staging-BREADCRUMBS", "staging-CONTEXTS", "staging-DEADLETTERS", "staging-PROBES",
                "KV_staging-workers",
            }  # fmt: skip
            durables = {info.name for info in await js.consumers_info("staging-BREADCRUMBS")}
            assert "staging" in durables
            assert "context-builder" not in durables
            await all_settled(js)


async def test_an_agent_names_its_installation_and_gets_its_contexts(guarded: Broker, tmp_path: Path) -> None:
    with Running(tmp_path, address(guarded, "staging"), name="staging") as service:
        async with connect(address(guarded, "agent"), name="staging") as client, client.subscribed("default") as contexts:
            await client.send_user_message("s2", "Where is the kiln?", message_id="where")
            context = await anext(contexts)
            answer = await client.send_response(context, "In the yard.")
            assert not answer.already_answered
            assert (await client.send_response(context, "In the yard.", step=1)).already_answered

            async def is_remembered() -> bool:
                return [row.text async for row in client.history("s2")] == ["Where is the kiln?", "In the yard."]

            await until(is_remembered, "the answer to be remembered")
        assert service.get("/readyz")[0] == 200


async def test_an_agent_of_another_installation_gets_nothing(guarded: Broker) -> None:
    connection = await nats.connect(address(guarded, "agent"), error_cb=_silent)
    with pytest.raises(nats.errors.TimeoutError):
        await connection.jetstream().publish("breadcrumbs.default.s1.note.v1", b"{}", timeout=0.3)
    await connection.close()


async def test_a_name_that_cannot_be_used_is_refused_by_client_and_service(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="cannot be used"):
        await connect("nats://127.0.0.1:1", name="a.b").__aenter__()
    done = run("doctor", env=Running(tmp_path, name="Staging").env)
    assert done.returncode == 78
    assert "CONTEXT_BUILDER_NAME" in done.stderr


async def _silent(_error: Exception) -> None:
    """Of a refused publication nats-py would write a line."""
