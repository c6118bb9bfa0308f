"""An RCRT deployment for tests: its server as a process, its broker, our bridge beside it, and what its runners read."""

import json
import sys
from pathlib import Path
from typing import Any, Self

import httpx2

from tests.commands import COMMAND, DEADLINE
from tests.free_ports import LOOPBACK, free_port
from tests.rcrt_server import BUILDER
from tests.running import ROOT, Broker, Process, Running, wait_for

OWNER = "00000000-0000-0000-0000-000000000001"
OTHER_OWNER = "00000000-0000-0000-0000-000000000002"
PERSON = "00000000-0000-0000-0000-0000000000aa"
"""The agent that the tests are."""
CHAT = "default-chat-assistant"
CHAT_AGENT = {
    "agent_id": CHAT,
    "system_prompt": "You help people who fire kilns.",
    "context_trigger": {"schema_name": "user.message.v1", "any_tags": ["user:message"]},
    "context_sources": {"always": [{"type": "schema", "schema_name": "tool.catalog.v1", "method": "latest", "limit": 1}]},
}
"""The chat agent as the newest line defines it."""


class RcrtServer(Process):
    """RCRT's server (tests/rcrt_server.py). It keeps its records when it is killed and started again."""

    def __init__(self, folder: Path, broker: Broker, token_seconds: float = 3600) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port = str(free_port())
        self.url = f"http://{LOOPBACK}:{port}"
        self._http = httpx2.Client(base_url=self.url, timeout=DEADLINE)
        self._tokens: dict[str, str] = {}
        command = [sys.executable, "-m", "tests.rcrt_server", str(folder), broker.url, port, str(token_seconds)]
        super().__init__(command, {"PYTHONPATH": str(ROOT), "PATH": ""}, folder / "log")

    def __exit__(self, *error: object) -> None:
        self._http.close()
        super().__exit__(*error)

    def _ready(self) -> bool:
        try:
            return self._http.get("/test/counts").is_success
        except httpx2.HTTPError:
            return False

    def request(self, method: str, path: str, body: Any = None, owner: str = OWNER) -> Any:
        """The answer to a request of an owner."""
        token = self._http.post("/auth/token", json={"owner_id": owner, "agent_id": PERSON}).json()["token"]
        answer = self._http.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
        answer.raise_for_status()
        return answer.json()

    def create(self, schema: str, context: Any, *tags: str, owner: str = OWNER, **fields: Any) -> str:
        """A record; its id."""
        body = {"schema_name": schema, "title": schema, "context": context, "tags": list(tags), **fields}
        return str(self.request("POST", "/breadcrumbs", body, owner)["id"])

    def say(self, text: str, session: str, *tags: str, owner: str = OWNER) -> str:
        """A message of the browser extension; its id."""
        body = {"content": text, "timestamp": "2026-11-24T10:00:00Z", "session_id": session, "source": "browser-extension"}
        return self.create("user.message.v1", body, "user:message", "extension:chat", f"session:{session}", *tags, owner=owner)

    def answer(self, text: str, session: str, **body: Any) -> str:
        """What the chat agent said; the record's id."""
        context = {"message": text, "creator": {"type": "agent", "agent_id": CHAT}, **body}
        return self.create("agent.response.v1", context, "agent:response", "chat:output", f"session:{session}")

    def fail(self, **faults: int | str) -> None:
        """Let so many of the next requests fail in this way. unreadable: id of a record that cannot be read."""
        self._http.post("/test/faults", json=faults).raise_for_status()

    def counts(self) -> dict[str, Any]:
        """What it counts, and every write of a context in its order."""
        return dict(self._http.get("/test/counts").json())

    def contexts(self) -> list[dict[str, Any]]:
        """The records that hold contexts, newest first."""
        return list(self._http.get("/breadcrumbs?schema_name=agent.context.v1&include_context=true").json())

    def written(self, *triggers: str) -> list[dict[str, Any]]:
        """All writes of contexts, once there is one for each of these triggers."""
        writes: list[dict[str, Any]] = []

        def are_there() -> bool:
            writes[:] = [write["context"] for write in self.counts()["writes"]]
            return {*triggers} <= {write["trigger_event_id"] for write in writes}

        wait_for(are_there, f"contexts of {len(triggers)} triggers")
        return writes


class Bridge(Running):
    """`context-builder rcrt` with the settings that a deployment has."""

    def __init__(self, data: Path, broker: Broker, server: RcrtServer, *options: str) -> None:
        super().__init__(data, command=(COMMAND, "rcrt", *options))
        self.env |= {"NATS_URL": broker.url, "RCRT_API_URL": server.url, "OWNER_ID": OWNER, "AGENT_ID": BUILDER}

    def joined(self) -> Self:
        """Wait until all that RCRT held is in."""
        wait_for(lambda: "RCRT is listed for the first time" in self.said(), "the first listing")
        return self


def user_text(event: dict[str, Any]) -> str:
    """What both lines of the agent runner send as the user's text of a record (`AgentExecutor`, `UniversalExecutor`)."""
    context = event["context"]
    return str(context.get("message") or context.get("content") or json.dumps(context))


def viewer_sections(event: dict[str, Any]) -> list[str]:
    """The titles that the browser extension's ContextViewer shows."""
    lines = str(event["context"]["formatted_context"]).splitlines()
    return [line.strip("= ") for line in lines if line.startswith("=== ") and line.endswith(" ===")]
