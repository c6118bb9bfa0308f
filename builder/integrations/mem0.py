"""mem0's verbs without mem0: what is added is kept word for word, and no model is asked."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from builder.client import BreadcrumbRecord, Rejected
from builder.client.sync import SyncClient
from builder.integrations import fetched

NOTE, MAX_RESULTS, SCHEMAS = "note.v1", 100, frozenset({"note.v1", "user.message.v1", "agent.response.v1"})
Chat = str | Mapping[str, str] | Sequence[Mapping[str, str]]
Results = dict[str, list[dict[str, Any]]]


class Memory:
    """mem0's `Memory`. A memory is a note in the session of its run, else of its agent, else of its user.

    filters: one or more of `user_id`, `agent_id` and `run_id`. A user finds all that was said by and to them, through any door, a
    run its session, an agent alone what was added without a run. Raises `Rejected` and `Unavailable`.
    """

    def __init__(self, client: SyncClient) -> None:
        self._client = client

    def add(
        self, messages: Chat, *, user_id: str = "", agent_id: str = "", run_id: str = "", metadata: Any = None, infer: bool = True
    ) -> Results:
        """Keep each message but the system's. metadata: JSON. infer: has no effect."""
        session = _session(names := {"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        chat = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        results = []
        for message in [chat] if isinstance(chat, Mapping) else chat:
            content, role, name = message["content"], message["role"], message.get("name")
            if role != "system":
                body = {"content": content, "role": role, "speaker": name, "metadata": metadata, **names}
                identity = self._client.send(NOTE, body, session=session, user_id=user_id)
                results.append({"id": identity, "memory": content, "event": "ADD", "actor_id": name, "role": role})
        return {"results": results}

    def search(self, query: str, *, filters: Mapping[str, str], top_k: int = 20, threshold: float = 0.0) -> Results:
        """`score` is the probability that a memory answers the query; threshold: the least one."""
        results = self._client.search(query, limit=MAX_RESULTS, schemas=SCHEMAS, **_scope(filters))
        scored = ((self._client.fetch(each.id), each.probability) for each in results if each.probability >= threshold)
        return {"results": [_memory(record) | {"score": score} for record, score in scored if _is_in(record, filters)][:top_k]}

    def get_all(self, *, filters: Mapping[str, str], top_k: int = 20) -> Results:
        """The newest ones first."""
        records = (each for each in self._client.history(**_scope(filters), newest=True) if _is_in(each, filters))
        return {"results": [_memory(record) for record in islice(records, top_k)]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """None = there is none."""
        return _memory(record) if (record := fetched(self._client, memory_id)) else None

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erase it and all that was made from it, for ever."""
        self._client.forget(memory_id, by="mem0")
        return {"message": "Memory deleted successfully!"}


class AsyncMemory:
    """mem0's `AsyncMemory`: each verb of `Memory` with `await`, in a thread."""

    def __init__(self, client: SyncClient) -> None:
        self._memory = Memory(client)

    def __getattr__(self, verb: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        return partial(asyncio.to_thread, getattr(self._memory, verb))


def _scope(filters: Mapping[str, str]) -> dict[str, Any]:
    session = _session(filters)
    return {"user_id": filters["user_id"]} if filters.get("user_id") else {"session": session}


def _session(names: Mapping[str, str]) -> str:
    agent, user = names.get("agent_id"), names.get("user_id")
    session = names.get("run_id") or (agent and f"agent:{agent}") or (user and f"user:{user}")
    if not session or names.keys() - {"user_id", "agent_id", "run_id"}:
        raise Rejected(f"the names are {dict(names)}; give one or more of user_id, agent_id and run_id, and no other")
    return session


def _is_in(record: BreadcrumbRecord, filters: Mapping[str, str]) -> bool:
    """Whether what a look-up finds is a memory of all these names; one of a session also finds notes of no session."""
    run, agent, body = filters.get("run_id"), filters.get("agent_id"), record.body
    agents = {body.get("agent_id"), (body.get("creator") or {}).get("agent_id")}
    is_theirs = (not run or run in {record.session, body.get("run_id")}) and (not agent or agent in agents)
    return is_theirs and record.schema in SCHEMAS and bool(record.text)


def _memory(record: BreadcrumbRecord) -> dict[str, Any]:
    body, written = record.body, record.created_at.isoformat()
    names = {"user_id": record.user_id, "actor_id": body.get("speaker")}
    names |= {name: body.get(name) for name in ("agent_id", "run_id", "role")}
    item = {"id": record.id, "memory": record.text, "hash": None, "metadata": body.get("metadata"), "created_at": written}
    return item | {"updated_at": written} | {name: value for name, value in names.items() if value}
