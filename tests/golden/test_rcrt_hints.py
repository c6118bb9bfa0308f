"""The forms of the fifteen hints that RCRT's schemas bring, and of its tool catalog's: as they are there, and as they are shown.

`rcrt/records.json` has each form in our words, with a record; `rcrt/expected.md` is the page of all of them, read like prose.
"""

import json
import os
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from builder.adapters.profiles.profiles import parse_profile
from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.breadcrumb import Place
from builder.domain.context import Context
from builder.extras.rcrt.llm_hints.rendering import LlmHintRenderer
from builder.extras.rcrt.records import breadcrumb
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.recall.histories import HistoryCache
from builder.remember.decode import decode
from builder.service import ContextBuilder
from tests.golden.stored_vectors import StoredVectors
from tests.golden.test_golden import helpers
from tests.stores import durable_store

HERE = Path(__file__).parent / "rcrt"
FOLDERS = read_layers((bundled_folder("templates"), bundled_folder("templates") / "rcrt"))
START = datetime(2026, 11, 24, tzinfo=UTC)
KINDS: dict[str, Any] = json.loads((HERE / "records.json").read_text("utf-8"))


def record(schema: str, identity: str, body: dict[str, Any], tags: list[str], **fields: Any) -> dict[str, Any]:
    """As RCRT's `/full` gives it."""
    return {
        "id": identity, "owner_id": "golden", "schema_name": schema, "version": 1, "title": identity, "tags": tags,
        "context": body, "created_at": START.isoformat(), "sensitivity": "low", "visibility": "team", **fields,
    }  # fmt: skip


def records() -> list[dict[str, Any]]:
    """The definitions, a record of each schema, a catalog with hints of its own, and a question."""
    found = []
    for number, kind in enumerate(KINDS["definitions"]):
        body = {"defines_schema": kind["schema"]} | ({"llm_hints": kind["hints"]} if kind["place"] == "body" else {})
        fields = {"llm_hints": kind["hints"]} if kind["place"] == "top" else {}
        found.append(record("schema.def.v1", f"def-{number}", body, [f"defines:{kind['schema']}"], **fields))
        found.append(record(kind["schema"], f"record-{number}", kind["body"], ["session:golden"]))
    catalog = KINDS["catalog"]
    found.append(record("workshop.catalog.v1", "catalog", catalog["body"], ["session:golden"], llm_hints=catalog["hints"]))
    return [*found, record("user.message.v1", "question", {"content": "What is there?"}, ["session:golden"])]


async def build(store: Store, embedder: Embedder) -> tuple[Context, list[str]]:
    """The page of all forms, and what RCRT's translation found wrong."""
    schemas = [*(kind["schema"] for kind in KINDS["definitions"]), "workshop.catalog.v1"]
    pinned = ", ".join(f"{{schemas: [{schema}], keep: latest}}" for schema in schemas)
    source = f"extends: default\nbudget: 8000\npinned: [{pinned}]\ntrusted_hints: {{sessions: any}}\n"
    profile = parse_profile("rcrt", source, load_library(FOLDERS))
    rendering = JinjaRendering(
        TemplateSet(*templates_of(FOLDERS)), load_counter(profile.encoding), hint_languages=[LlmHintRenderer]
    )
    functions = replace(helpers(profile.encoding), renderings={profile.encoding: rendering})
    builder = ContextBuilder(store, embedder, (profile,), functions, HistoryCache(10_000))
    failures: list[str] = []
    crumbs = []
    for number, each in enumerate(records(), 1):
        translation = breadcrumb(each, version=1)
        failures += translation.failures
        crumbs.append(decode(translation.event.arrive(Place(1, number), START + timedelta(seconds=number))))
    for crumb in crumbs[:-1]:
        await builder.remember(crumb)
    (context,) = (await builder.build(crumbs[-1], (profile,))).contexts
    return context, failures


async def test_each_form_of_rcrts_hints_is_shown_as_there_or_falls_back() -> None:
    with closing(durable_store()) as store:
        context, failures = await build(store, StoredVectors(HERE))
    if os.environ.get("UPDATE_GOLDEN") == "1":
        (HERE / "expected.md").write_text(context.markdown, "utf-8")
    assert failures == []
    assert context.markdown == (HERE / "expected.md").read_text("utf-8")
