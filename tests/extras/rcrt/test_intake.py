"""A record of RCRT that cannot be read keeps waiting what is behind it of its owner, and nobody else."""

import asyncio
import json
from collections import Counter
from typing import Any, cast

from builder.domain.errors import Unavailable
from builder.extras.rcrt import intake as module
from builder.extras.rcrt.intake import Intake
from builder.extras.rcrt.ledger import Entry, Ledger
from builder.extras.rcrt.rest import RcrtApi
from builder.wire.records import Outgoing
from tests.commands import DEADLINE


class Api:
    """`RcrtApi` that holds every record. failures: of each id, before it is handed out."""

    workspace = "default"

    def __init__(self, **failures: int) -> None:
        self.failures = Counter(failures)
        self.reads = Counter[str]()

    async def record(self, identity: str, workspace: str) -> dict[str, Any]:
        self.reads[identity] += 1
        if self.failures[identity] > 0:
            self.failures[identity] -= 1
            raise Unavailable(f"RCRT answers 500 for {identity}")
        return {
            "id": identity, "owner_id": workspace, "version": 1, "schema_name": "note.v1", "context": {"content": identity},
            "created_at": "2026-01-05T09:00:00+00:00",
        }  # fmt: skip

    async def is_up(self) -> bool:
        return True


class Records:
    """`Ledger` in memory, in which every owner has joined."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    async def entry(self, identity: str) -> Entry | None:
        return self.entries.get(identity)

    async def note(self, identity: str, entry: Entry) -> None:
        self.entries[identity] = entry

    async def has_joined(self, workspace: str) -> bool:  # noqa: ARG002 - all have
        return True


def event(identity: str, owner: str) -> bytes:
    return json.dumps({"breadcrumb_id": identity, "owner_id": owner}).encode()


async def stored(api: Api, *events: tuple[str, str], first: str = "") -> list[str]:
    """Ids in the order of publication, once all of them, or `first`, are there. events: id and owner."""
    published: list[str] = []
    done = asyncio.Event()

    async def publish(outgoing: Outgoing, _is_old: bool) -> None:
        published.append(json.loads(outgoing.data)["id"])
        if len(published) == len({identity for identity, _ in events}) or published[-1] == first:
            done.set()

    intake = Intake(cast("RcrtApi", api), cast("Ledger", Records()), publish, lambda _change: None)
    for identity, owner in events:
        await intake.hear(event(identity, owner), None)
    running = asyncio.create_task(intake.run(lambda: None, module._nothing))
    async with asyncio.timeout(DEADLINE):
        await done.wait()
    running.cancel()
    await asyncio.wait({running})
    return published


async def test_what_fails_of_one_owner_keeps_no_other_waiting() -> None:
    published = await stored(Api(broken=100), ("broken", "ann"), ("behind", "ann"), ("free", "ben"), first="free")
    assert published == ["free"]


async def test_a_failed_fetch_is_made_anew_once_for_all_announcements() -> None:
    api = Api(once=1)
    published = await stored(api, ("once", "ann"), ("once", "ann"), ("once", "ann"), ("last", "ann"))
    assert published == ["once", "last"]
    assert api.reads["once"] <= 4, "each announcement has its own fetch, and the failed one a second"
