"""LangGraph's `BaseStore` on notes: an item is a note, a namespace is a session of its own. Extra `langgraph`."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import Any

from langgraph.store import base
from langgraph.store.memory import InMemoryStore
from typing_extensions import override

from builder.client import BreadcrumbRecord, Client
from builder.client.sync import SyncClient, as_sync
from builder.domain.json_values import JsonObject
from builder.integrations.messages import fetched, identity_of

NOTE, NAMESPACE = "note.v1", "store.namespace.v1"
MAX_FOUND, IDS_AT_ONCE, ITEM = 100, 20, {"namespace", "key", "value"}


class BuilderStore(base.BaseStore):
    """All methods raise `Rejected` and `Unavailable`. A search without `index` looks into every text of a value."""

    def __init__(self, client: SyncClient | Client) -> None:
        self._client = as_sync(client)

    @override
    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        return [self._result(op) for op in ops]

    @override
    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _result(self, op: base.Op) -> base.Result:
        match op:
            case base.GetOp():
                record = fetched(self._client, self._identity(_session(op.namespace), op.key))
                return base.Item(**_facts(record)) if record else None
            case base.PutOp():
                self._put(op)
                return None
            case base.SearchOp():
                return self._search(op)
            case base.ListNamespacesOp():
                return _in_memory({(namespace, ""): {} for namespace in self._namespaces()}).batch([op])[0]

    def _put(self, op: base.PutOp) -> None:
        session = _session(op.namespace)
        identity, namespace = self._identity(session, op.key), identity_of(session)
        there = fetched(self._client, identity)
        if op.value is None:
            if there:
                self._client.forget(identity, by="langgraph")
            return
        if fetched(self._client, namespace) is None:
            self._client.send(NAMESPACE, {"namespace": op.namespace}, session=_session(()), id=namespace)
        paths = [] if op.index is False else op.index or ["*"]
        text = "\n".join(text for path in paths for text in base.get_text_at_path(op.value, path))
        body = {"content": text, "namespace": op.namespace, "key": op.key, "value": op.value}
        version = there.version + 1 if there else 1
        self._client.send(NOTE, body, session=session, id=identity, version=version)

    def _identity(self, session: str, key: str) -> str:
        """The id of an item. An erased one closed its id, so the key goes on under the next one."""
        first = identity_of(session, key)
        if fetched(self._client, first):
            return first
        numbers = count(1)
        names, entries = [first], self._client.identities([first])
        while names[0] in entries and entries[names[0]].is_ended:
            names = names[1:]
            if not names:
                names = [identity_of(session, key, number) for number in islice(numbers, IDS_AT_ONCE)]
                entries = self._client.identities(names)
        return names[0]

    def _search(self, op: base.SearchOp) -> list[base.SearchItem]:
        prefix = op.namespace_prefix
        sessions = [_session(namespace) for namespace in self._namespaces() if namespace[: len(prefix)] == prefix]
        items = {(item.namespace, item.key): item for session in sessions for item in self._items(session, op.query)}
        memory = _in_memory({name: item.value for name, item in items.items()})
        matches = memory.search(prefix, filter=op.filter, limit=len(items) + 1)
        ranked = sorted((items[item.namespace, item.key] for item in matches), key=lambda item: -(item.score or 0))
        return ranked[op.offset : op.offset + op.limit]

    def _items(self, session: str, query: str | None) -> Iterator[base.SearchItem]:
        results = self._client.search(query, session=session, schemas=[NOTE], limit=MAX_FOUND) if query else ()
        matches = ((fetched(self._client, result.id), result.probability) for result in results)
        for record, score in matches if query else ((record, None) for record in self._client.history(session)):
            if record and record.schema == NOTE and record.body.keys() >= ITEM:  # there may be notes of others, and of no session
                yield base.SearchItem(**_facts(record), score=score)

    def _namespaces(self) -> list[tuple[str, ...]]:
        records = self._client.history(_session(()))
        return [tuple(record.body["namespace"]) for record in records if record.schema == NAMESPACE]


def _in_memory(values: dict[tuple[tuple[str, ...], str], Any]) -> InMemoryStore:
    """LangGraph's own, for its rules of namespaces and filters."""
    memory = InMemoryStore()
    memory.batch([base.PutOp(*name, value) for name, value in values.items()])
    return memory


def _facts(record: BreadcrumbRecord) -> JsonObject:
    namespace, key, value = (record.body[name] for name in ("namespace", "key", "value"))
    times = {"created_at": record.created_at, "updated_at": record.created_at}
    return {"namespace": tuple(namespace), "key": key, "value": value, **times}


def _session(namespace: tuple[str, ...]) -> str:
    return ".".join(("langgraph:store", *namespace))
