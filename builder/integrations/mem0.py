"""mem0's verbs without mem0: what is added is kept word for word, and no model is asked."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import islice
from typing import Any

from builder.client import BreadcrumbRecord, Client
from builder.client.sync import SyncClient, as_sync
from builder.domain.json_values import JsonObject
from builder.integrations.messages import fetched

NOTE, MAX_RESULTS, SCHEMAS = "note.v1", 100, frozenset({"note.v1", "user.message.v1", "agent.response.v1"})
Chat = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Names = Mapping[str, str]
NONE: Names = {}


class Memory:
    """mem0's `Memory`. A memory is a note in the session of its run, else of its agent, else of its user.

    filters: one or more of `user_id`, `agent_id` and `run_id`. Raises `Rejected`, `Unavailable`, `ValueError` where mem0 does.
    """

    def __init__(self, client: SyncClient | Client) -> None:
        self._client = as_sync(client)

    def add(
        self, messages: Chat, *, user_id: str = "", agent_id: str = "", run_id: str = "", metadata: Any = None, infer: bool = True
    ) -> JsonObject:
        """Keep each message with a role and content but the system's. metadata: JSON. infer: has no effect."""
        session = _session(names := {"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        chat = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        results = []
        for message in [chat] if isinstance(chat, Mapping) else chat:
            content, role, name = message.get("content"), message.get("role"), message.get("name")
            if content is not None and role not in {None, "system"}:
                body = {"content": content, "role": role, "speaker": name, "metadata": metadata, **names}
                identity = self._client.send(NOTE, body, session=session, user_id=user_id)
                results.append({"id": identity, "memory": content, "event": "ADD", "actor_id": name, "role": role})
        return {"results": results}

    def search(self, query: str, *, filters: Names = NONE, top_k: int = 20, threshold: float = 0, **names: str) -> JsonObject:
        """`score` is the probability that a memory answers the query; threshold: the least one."""
        results = self._client.search(query, limit=MAX_RESULTS, schemas=SCHEMAS, **_scope(filters, names))
        scored = ((self._client.fetch(each.id), each.probability) for each in results if each.probability >= threshold)
        return {"results": [_memory(record) | {"score": score} for record, score in scored if _is_in(record, filters)][:top_k]}

    def get_all(self, *, filters: Names = NONE, top_k: int = 20, **names: str) -> JsonObject:
        """The newest ones first."""
        records = (each for each in self._client.history(**_scope(filters, names), newest=True) if _is_in(each, filters))
        return {"results": [_memory(record) for record in islice(records, top_k)]}

    def get(self, memory_id: str) -> JsonObject | None:
        """None = there is none."""
        return _memory(record) if (record := fetched(self._client, memory_id)) else None

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erase it and all that was made from it, for ever."""
        if self.get(memory_id) is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        self._client.forget(memory_id, by="mem0")
        return {"message": "Memory deleted successfully!"}


class AsyncMemory:
    """mem0's `AsyncMemory`: each verb of `Memory` with `await`, in a thread."""

    def __init__(self, client: SyncClient | Client) -> None:
        self._memory = Memory(client)

    def __getattr__(self, verb: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        return lambda *args, **names: asyncio.to_thread(getattr(self._memory, verb), *args, **names)


def _scope(filters: Names, outside: Names) -> JsonObject:
    session = _session(filters, *outside)
    return {"user_id": filters["user_id"]} if filters.get("user_id") else {"session": session}


def _session(names: Names, *outside: str) -> str:
    session = names.get("run_id") or next((f"{kind}:{who}" for kind in ("agent", "user") if (who := names.get(f"{kind}_id"))), "")
    if not session or outside or names.keys() - {"user_id", "agent_id", "run_id"}:
        raise ValueError(f"names are {dict(names)}; give one or more of user_id, agent_id and run_id, and no other, as filters")
    return session


def _is_in(record: BreadcrumbRecord, filters: Names) -> bool:
    """Whether what a look-up finds is a memory of all these names; one of a session also finds notes of no session."""
    run, agent, body = filters.get("run_id"), filters.get("agent_id"), record.body
    agents = {body.get("agent_id"), (body.get("creator") or {}).get("agent_id")}
    is_theirs = (not run or run in {record.session, body.get("run_id")}) and (not agent or agent in agents)
    return is_theirs and record.schema in SCHEMAS and bool(record.text)


def _memory(record: BreadcrumbRecord) -> JsonObject:
    body, written = record.body, record.created_at.isoformat()
    names = {name: body.get(name) for name in ("agent_id", "run_id", "role")}
    item = {"id": record.id, "memory": record.text, "hash": None, "metadata": body.get("metadata"), "created_at": written}
    names |= {"user_id": record.user_id, "actor_id": body.get("speaker")}
    return item | {"updated_at": written} | {name: value for name, value in names.items() if value}
