"""A model of RCRT's server, written from its contracts: REST and core NATS of both lines, with the defects that we must survive.

It runs as a process of its own (`python -m tests.rcrt_server FOLDER NATS_URL PORT`), keeps its records in SQLite, and may be
killed. Defects of the real one that it has: a create is announced on two subjects and its failure to announce is forgotten; a
deletion is announced on none; the listing asks for no token and knows no owner; an idempotency key is used up before the record
is there; an update panics where byte 200 of the context lies inside a character.
"""

import base64
import contextlib
import json
import sqlite3
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nats
import uvicorn
from nats.aio.client import Client
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

BUILDER = "00000000-0000-0000-0000-0000000000cb"
"""The agent that the bridge is."""
PREVIEW_BYTES = 200
FIELDS = ("title", "description", "semantic_version", "schema_name", "visibility", "sensitivity", "ttl", "llm_hints")
VIEW = ("id", "title", "tags", "schema_name", "version", "updated_at")
TABLES = """
CREATE TABLE IF NOT EXISTS breadcrumbs (id TEXT PRIMARY KEY, owner TEXT, updated REAL, record TEXT);
CREATE TABLE IF NOT EXISTS keys (owner TEXT, key TEXT, PRIMARY KEY (owner, key));
CREATE TABLE IF NOT EXISTS writes (id TEXT, version INTEGER, context TEXT);
"""


def now() -> float:
    """Seconds since 1970."""
    return datetime.now(UTC).timestamp()


class Server:
    """Records, faults that tests ask for, and counts."""

    def __init__(self, folder: Path, token_seconds: float) -> None:
        self.db = sqlite3.connect(folder / "rcrt.sqlite3", isolation_level=None)
        self.db.executescript(TABLES)
        self.token_seconds = token_seconds
        self.faults: dict[str, Any] = {}
        self.counts = {"requests": 0, "tokens": 0, "panics": 0, "unauthorised": 0}
        self.bus: Client | None = None

    def get(self, identity: str) -> dict[str, Any] | None:
        row = self.db.execute("SELECT record FROM breadcrumbs WHERE id = ?", (identity,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, record: dict[str, Any], *, is_edit: bool = False) -> None:
        """is_edit: by a person, so that it is no write of a builder."""
        record["updated_at"] = datetime.now(UTC).isoformat()
        values = (record["id"], record["owner_id"], now(), json.dumps(record))
        self.db.execute("INSERT OR REPLACE INTO breadcrumbs VALUES (?, ?, ?, ?)", values)
        if record["schema_name"] == "agent.context.v1" and not is_edit:
            write = (record["id"], record["version"], json.dumps(record["context"]))
            self.db.execute("INSERT INTO writes VALUES (?, ?, ?)", write)

    async def announce(self, record: dict[str, Any], kind: str, facts: dict[str, Any]) -> None:
        event = {"breadcrumb_id": record["id"], "owner_id": record["owner_id"], **facts, "type": f"breadcrumb.{kind}"}
        if self.bus is None or not self.bus.is_connected or self.take("silent"):
            return
        with contextlib.suppress(nats.errors.Error):
            await self.bus.publish(f"bc.{record['id']}.{kind}", json.dumps(event, ensure_ascii=False).encode())

    async def announce_whole(self, record: dict[str, Any], *kinds: str) -> None:
        whole = {name: record[name] for name in ("version", "tags", "schema_name", "updated_at", "context")}
        for kind in kinds:
            await self.announce(record, kind, whole)

    def take(self, fault: str) -> bool:
        """Whether this fault is asked for once more."""
        left = int(self.faults.get(fault, 0))
        self.faults[fault] = max(0, left - 1)
        return left > 0


def owner_of(request: Request, server: Server) -> str:
    """The owner of the token. Raises 401."""
    server.counts["requests"] += 1
    try:
        claims = json.loads(base64.urlsafe_b64decode(request.headers["authorization"].removeprefix("Bearer ")))
    except (KeyError, ValueError) as error:
        server.counts["unauthorised"] += 1
        raise HTTPException(401, "missing Authorization") from error
    is_builder = claims["sub"] == BUILDER  # faults meet the bridge, not the test that makes them
    if claims["exp"] < now() or (is_builder and server.take("revoked")):
        server.counts["unauthorised"] += 1
        raise HTTPException(401, "ExpiredSignature")
    if is_builder and server.take("broken"):
        raise HTTPException(500, "no connection to the database")
    return str(claims["owner_id"])


class Routes:
    """The handlers."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def token(self, request: Request) -> Response:
        body = await request.json()
        with contextlib.suppress(ValueError):
            claims: dict[str, Any] = {"owner_id": str(uuid.UUID(body["owner_id"])), "sub": str(uuid.UUID(body["agent_id"]))}
            claims["exp"] = int(now() + self.server.token_seconds)
            self.server.counts["tokens"] += 1
            text = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
            return JSONResponse({"token": text, **claims, "roles": body.get("roles", [])})
        return PlainTextResponse("invalid agent_id format", 400)

    async def create(self, request: Request) -> Response:
        owner, body = owner_of(request, self.server), await request.json()
        if key := request.headers.get("idempotency-key"):
            try:
                self.server.db.execute("INSERT INTO keys VALUES (?, ?)", (owner, key))
            except sqlite3.IntegrityError:
                return PlainTextResponse("duplicate idempotency key", 409)
        is_context = body.get("schema_name") == "agent.context.v1"
        if is_context and self.server.take("lost_creations"):  # the key is used up and nothing came of it
            return PlainTextResponse("the insert failed", 500)
        created_at = datetime.now(UTC).isoformat()
        record = {name: body.get(name) for name in FIELDS} | {"id": str(uuid.uuid4()), "owner_id": owner, "version": 1}
        record |= {"title": body["title"], "context": body["context"], "tags": body["tags"], "created_at": created_at}
        record |= {"sensitivity": body.get("sensitivity") or "low", "created_by": None} | {"id": body.get("id") or record["id"]}
        self.server.put(record)
        if is_context and self.server.take("deaf_creations"):
            return PlainTextResponse("the answer was lost", 500)
        await self.server.announce_whole(record, "created", "updated")
        return JSONResponse({"id": record["id"]})

    async def listing(self, request: Request) -> Response:
        self.server.counts["requests"] += 1
        query = request.query_params
        rows = [json.loads(row[0]) for row in self.server.db.execute("SELECT record FROM breadcrumbs ORDER BY updated DESC")]
        rows = [row for row in rows if query.get("tag") in (None, *row["tags"])]
        rows = [row for row in rows if query.get("schema_name") in (None, row["schema_name"])]
        first = max(0, int(query.get("offset", 0)))
        rows = rows[first:][: max(1, int(query.get("limit", len(rows) + 1)))]
        fields = (*VIEW, "context") if query.get("include_context") == "true" else VIEW
        return JSONResponse([{name: row[name] for name in fields} for row in rows])

    def owned(self, request: Request) -> dict[str, Any]:
        owner, record = owner_of(request, self.server), self.server.get(request.path_params["id"])
        if record is None or record["owner_id"] != owner:
            raise HTTPException(404, "not found")
        return record

    async def full(self, request: Request) -> Response:
        record = self.owned(request)
        if self.server.faults.get("unreadable") == record["id"]:
            return PlainTextResponse("a row of the database is damaged", 500)
        return JSONResponse(record)

    async def update(self, request: Request) -> Response:
        record, body = self.owned(request), await request.json()
        preview = json.dumps(body.get("context"), ensure_ascii=False, separators=(",", ":")).encode()
        try:
            preview[:PREVIEW_BYTES].decode()
        except UnicodeDecodeError:
            self.server.counts["panics"] += 1
            return PlainTextResponse("byte index 200 is not a char boundary", 500)
        if self.server.take("conflicts"):  # somebody else was first
            record["version"] += 1
            self.server.put(record, is_edit=True)
        expected = request.headers.get("if-match", "").strip('"')
        if expected and int(expected) != record["version"]:
            return PlainTextResponse("version_mismatch", 412)
        changes = {name: body[name] for name in (*FIELDS, "context", "tags") if name in body}
        self.server.put(record | changes | {"version": record["version"] + 1})
        await self.server.announce_whole(self.server.get(record["id"]) or record, "updated")
        return JSONResponse({"ok": True})

    async def add_tags(self, request: Request) -> Response:
        record, tags = self.owned(request), (await request.json())["tags"]
        self.server.put(record | {"tags": [*record["tags"], *tags], "version": record["version"] + 1}, is_edit=True)
        await self.server.announce(record, "updated", {"tags_added": len(tags)})
        return JSONResponse({"ok": True})

    async def delete(self, request: Request) -> Response:
        self.server.db.execute("DELETE FROM breadcrumbs WHERE id = ?", (self.owned(request)["id"],))
        return JSONResponse({"ok": True})

    async def faults(self, request: Request) -> Response:
        self.server.faults |= await request.json()
        return JSONResponse(self.server.faults)

    async def counts(self, _request: Request) -> Response:
        writes = [
            {"id": identity, "version": version, "context": json.loads(context)}
            for identity, version, context in self.server.db.execute("SELECT id, version, context FROM writes ORDER BY rowid")
        ]
        return JSONResponse({**self.server.counts, "writes": writes})


def application(server: Server, url: str) -> Starlette:
    """The routes; it hears nothing, and publishes its events best-effort."""
    routes = Routes(server)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        server.bus = await nats.connect(url, max_reconnect_attempts=-1, reconnect_time_wait=0.1, allow_reconnect=True)
        yield
        await server.bus.close()

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/auth/token", routes.token, methods=["POST"]),
            Route("/breadcrumbs", routes.create, methods=["POST"]),
            Route("/breadcrumbs", routes.listing, methods=["GET"]),
            Route("/breadcrumbs/{id}/full", routes.full, methods=["GET"]),
            Route("/breadcrumbs/{id}/tags/add", routes.add_tags, methods=["POST"]),
            Route("/breadcrumbs/{id}", routes.update, methods=["PATCH"]),
            Route("/breadcrumbs/{id}", routes.delete, methods=["DELETE"]),
            Route("/test/faults", routes.faults, methods=["POST"]),
            Route("/test/counts", routes.counts, methods=["GET"]),
        ],
    )


def main() -> None:
    """Serve until ended."""
    folder, url, port, token_seconds = sys.argv[1:]
    server = Server(Path(folder), float(token_seconds))
    uvicorn.run(application(server, url), port=int(port), log_level="error")


if __name__ == "__main__":
    main()
