"""Neither a killed RCRT server, a killed broker, a killed bridge, nor any refusal loses or doubles a context in RCRT."""

import os
from collections import Counter
from pathlib import Path

from tests.rcrt import CHAT_AGENT, Bridge, RcrtServer
from tests.running import Broker, wait_for

TRIGGERS = int(os.environ.get("RCRT_TRIGGERS", "60"))
"""RCRT_TRIGGERS=2000 takes about twenty minutes."""
SESSIONS = 20


def test_each_message_leads_to_one_write_whatever_fails(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, RcrtServer(tmp_path / "rcrt", broker, token_seconds=5) as server:
        server.create("agent.def.v1", CHAT_AGENT, "agent:def", "workspace:agents")
        with Bridge(tmp_path / "bridge", broker, server) as bridge:
            bridge.joined()
            triggers = []
            for number in range(TRIGGERS):
                troubles(number, server, broker, bridge)
                session = f"s{number % SESSIONS}"
                triggers.append(server.say(f"Batch {number} wants the ¼ glaze, and „two“ coats.", session))
                if number % 5 == 0:
                    server.request("POST", f"/breadcrumbs/{triggers[-1]}/tags/add", {"tags": ["edited"]})
                if number % SESSIONS == SESSIONS - 1:
                    wait_for(lambda: not unanswered(triggers, server), "a context of each message")
            writes = Counter(write["context"]["trigger_event_id"] for write in server.counts()["writes"])
            assert writes.most_common(1)[0][1] == 1, "no context is written twice"
            newest = {each["context"]["trigger_event_id"] for each in server.contexts()}
            assert newest == {*triggers[-SESSIONS:]}, "nothing is written over a later context"
            counts = server.counts()
            assert counts["panics"] == 0
            assert counts["tokens"] > 1, "tokens ended and were made anew"
            sessions = [next(tag for tag in each["tags"] if tag.startswith("session:")) for each in server.contexts()]
            assert sorted(sessions) == sorted({*sessions}), "each session has one record"
            assert len(sessions) == SESSIONS


def unanswered(triggers: list[str], server: RcrtServer) -> list[str]:
    """The messages with neither a context in RCRT nor a later message of their session that has one.

    A message that nobody announced is found by the next listing. If its session went on meanwhile, its context is late.
    """
    written = {write["context"]["trigger_event_id"] for write in server.counts()["writes"]}
    return [each for number, each in enumerate(triggers) if written.isdisjoint(triggers[number::SESSIONS])]


def troubles(number: int, server: RcrtServer, broker: Broker, bridge: Bridge) -> None:
    """What goes wrong before this message."""
    match number % 20:
        case 3:
            server.fail(conflicts=1)
        case 5:
            server.fail(broken=3)
        case 7:
            server.fail(silent=2)
        case 9:
            server.fail(revoked=2)
        case 11:
            server.kill()
            server.start()
        case 13:
            bridge.kill()
            bridge.start()
        case 15:
            broker.kill()
            broker.start()
        case 17:
            server.fail(lost_creations=1, deaf_creations=1)
        case _:
            pass
