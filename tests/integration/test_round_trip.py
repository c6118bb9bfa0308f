"""A session out of one stream and into another: nothing is lost, and twice changes nothing."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, Topology, ensure_streams
from builder.connection.names import REPLAY_HEADER
from builder.domain.breadcrumb import ORIGIN, StreamMessage
from builder.remember.decode import decode
from tests.commands import run
from tests.running import Broker, Running, environment, jetstream

NOW = datetime(2026, 11, 21, tzinfo=UTC)
WHOLE = {
    "id": "ü-1", "version": 3, "title": "A title", "tags": ["b", "a", "b"], "unknown": {"z": [1.0, 1, None, "\ud800"], "a": 0.1},
    "context": {"content": "Line\u2028separator \x00 and <b>", "n": 12345678901234567890},
    "created_at": "2024-05-08T09:00:00.123456+02:00",
    "llm_hints": {"exclude": ["n"]}, "ttl": "2099-01-01T00:00:00Z", "session": "s1", "user_id": "auth0|7",
}  # fmt: skip


SESSIONS = ["_", "s1", "s2"]


def counted(output: str) -> dict[str, object]:
    """What an import counted, without its speed."""
    return {name: value for name, value in json.loads(output).items() if name != "per_second"}


async def publish(js: JetStreamContext, session: str, schema: str, record: object) -> None:
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    await js.publish(f"breadcrumbs.acme.{session}.{schema}", data, stream=BREADCRUMBS)


async def held(js: JetStreamContext, count: int) -> list[tuple[str, dict[str, object]]]:
    messages = [await js.get_msg(BREADCRUMBS, sequence) for sequence in range(1, count + 1)]
    return [(str(message.subject), json.loads(message.data or b"")) for message in messages]


async def test_an_exported_workspace_is_imported_as_it_was_and_only_once(tmp_path: Path) -> None:
    with Broker(tmp_path / "one") as one, Broker(tmp_path / "other") as other:
        first, second = (environment(tmp_path / name, nats__servers=each.url) for name, each in (("a", one), ("b", other)))
        async with jetstream(one.url) as js, jetstream(other.url) as there:
            await ensure_streams(js, Topology())
            await ensure_streams(there, Topology())
            await publish(js, "s1", "user.message.v1", WHOLE)
            await publish(js, "s1", "note.v1", {"id": "n1", "context": {"content": "No time of its own."}})
            await publish(js, "_", "breadcrumb.deleted.v1", {"id": "t1", "context": {"breadcrumb_id": "gone"}})
            await publish(js, "s2", "note.v1", {"id": "gone", "context": {"content": "Made anew after its tombstone."}})
            await publish(js, "s2", "secret.v1", {"id": "k", "context": {"key": "kumquat"}})
            await publish(js, "s2", "note.v1", b"{")
            exported = run("export", "-w", "acme", env=first)
            assert "4 exported; 1 secrets and 1 that the service rejects were left out" in exported.stderr
            assert "kumquat" not in exported.stdout
            file = tmp_path / "acme.jsonl"
            file.write_text(exported.stdout, "utf-8")
            for result in (
                {
                    "published": 4,
                    "skipped": 0,
                    "system_messages": 0,
                    "sessions": SESSIONS,
                    "notes": [
                        "no worker runs, so nobody knows which ids are closed or taken: their lines will become dead letters"
                    ],
                    "refusals": [],
                },
                {
                    "published": 0,
                    "skipped": 4,
                    "system_messages": 0,
                    "sessions": SESSIONS,
                    "notes": [
                        "no worker runs, so nobody knows which ids are closed or taken: their lines will become dead letters"
                    ],
                    "refusals": [],
                },
            ):
                assert counted(run("import", str(file), "-w", "acme", "--json", env=second).stdout) == result
            source, copied = (await held(js, 4), await held(there, 4))
            for (subject, record), (theirs, copy) in zip(source, copied, strict=True):
                assert theirs == subject
                assert {name: copy[name] for name in record} == record
                assert copy.keys() - record.keys() <= {"schema_name", "session", "created_at"}
            crumb = decode(
                StreamMessage(subject=copied[0][0], data=json.dumps(copied[0][1]).encode(), place=ORIGIN, received_at=NOW)
            )
            assert (crumb.user_id, crumb.utc_offset) == ("auth0|7", 120)
            message = await there.get_msg(BREADCRUMBS, 1)
            assert (message.headers or {})[REPLAY_HEADER] == "1"
            elsewhere = environment(tmp_path / "c", nats__servers=other.url)
            assert counted(run("import", str(file), "-w", "acme", "--json", env=elsewhere).stdout) == result
            assert (await there.stream_info(BREADCRUMBS)).state.messages == 4
            assert run("export", "-w", "acme", env=second).stdout == exported.stdout


async def test_a_chat_is_imported_beside_the_running_service_once_and_shown_on_the_next_page(
    service: Running, tmp_path: Path
) -> None:
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "The kiln is in the yard."},
        {"role": "assistant", "content": "Noted."},
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, chat)), "utf-8")
    first = run("import", str(file), "-s", "chat", env=service.env)
    assert re.fullmatch(
        r"2 published, 0 had been before; sessions: chat; [\d,]+ a second; system messages left out: 1, because a profile gives "
        r"the system prompt",
        first.stderr.splitlines()[-1],
    )
    grown = tmp_path / "grown.json"
    grown.write_text(
        json.dumps({"messages": [*chat, {"role": "user", "content": "And the glaze is inside."}]}, indent=2), "utf-8"
    )
    again = run("import", str(grown), "-s", "chat", "--json", env=service.env)
    notes = ["system messages left out: 1, because a profile gives the system prompt"]
    assert counted(again.stdout) == {
        "published": 1, "skipped": 2, "system_messages": 1, "sessions": ["chat"], "notes": notes, "refusals": [],
    }  # fmt: skip
    sent = run("send", "Where is the kiln?", "-s", "chat", "--wait", "default", env=service.env)
    for text in ("The kiln is in the yard.", "Noted.", "And the glaze is inside."):
        assert sent.stdout.count(text) == 1
    assert len(json.loads(run("history", "chat", "--json", env=service.env).stdout)) == 4
