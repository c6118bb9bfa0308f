"""A session that holds one text wherever a sender can put one, and the structure of its page."""

import re
from typing import Any

from markdown_it import MarkdownIt

from builder.adapters.profiles.profiles import parse_profile
from builder.app.config import bundled_folder, load_library, read_layers
from builder.bench.scratch import scratch_builder
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.remember.decode import decode
from builder.service import ContextBuilder
from builder.wire.records import outgoing
from tests.factories import MORNING, make_place
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store

HARMLESS = "harmless"
Record = dict[str, Any]
SHOWN = (
    "note.v1",
    "knowledge.v1",
    "ticket.v1",
    "browser.page.context.v1",
    "browser.tab.context.v1",
    "tool.code.v1",
    "agent.def.v1",
)
PROFILE = f"""
triggers: [user.message.v1]
budget: 2000000
pinned: [tool.catalog.v1, {", ".join(f"{{schemas: [{name}], section: things, keep: all}}" for name in SHOWN)}]
retrieval: {{scope: session, schemas: []}}
sections:
  - {{name: tools, source: pinned, class: static}}
  - {{name: things, title: Things, source: pinned}}
  - {{name: recent, source: window}}
  - {{name: current, source: trigger}}
"""
LIBRARY = load_library(read_layers((bundled_folder("templates"),)))
MARKDOWN = MarkdownIt()


def profile_of(source: str = PROFILE, consumer: str = "agent") -> Profile:
    return parse_profile(consumer, source, LIBRARY)


def session(*texts: str) -> list[Record]:
    """Bodies of every known schema that a page may show, and of others, with each text in every place; the last one asks.

    One catalog of tools names all texts.
    """
    tools = [tool for text in texts for tool in _tools(text)]
    rounds = [body for number, text in enumerate(texts) for body in _bodies(text, f"{number}r")]
    bodies = [("tool.catalog.v1", {"tools": tools}), *rounds]
    return [_record(number, schema, body) for number, (schema, body) in enumerate(bodies, 1)]


def _tools(text: str) -> list[Record]:
    spec = {"properties": {text: {"type": "string"}, "q": {}}}
    return [{"name": "t", "category": text, "description": text, "inputSchema": spec}, {"name": text}]


def _bodies(text: str, calls: str) -> list[tuple[str, Record]]:
    """Schema and body. calls: how the ids of the calls begin."""
    nested = {"a": text, "b": {"c": [text, {"d": text}]}, "rows": [{"x": text, "y": 1}, {"x": "z", "y": 2}, {"x": text, "y": 3}]}
    place = {"title": text, "url": text, "content": {"mainText": text, "headings": [text]}, "dom": {"interactiveCount": 3}}
    return [
        ("note.v1", {"title": text, "content": text, "url": text}),
        ("knowledge.v1", {"title": text, "content": text}),
        ("ticket.v1", nested | {"k": text, text[:100]: "as a key"}),
        ("browser.page.context.v1", place),
        ("browser.tab.context.v1", place),
        ("tool.code.v1", {"name": "code", "description": text, "code": text}),
        ("agent.def.v1", {"agent_id": "helper", "system_prompt": text}),
        ("user.message.v1", {"content": text}),
        ("agent.response.v1", {"message": text, "tool_requests": [_call(f"{calls}1", "search", text, nested)]}),
        ("tool.response.v1", {"tool": "search", "status": "success", "output": nested, "request_id": f"{calls}1"}),
        ("agent.response.v1", {"message": text, "tool_requests": [_call(f"{calls}2", "search", text, nested)]}),
        ("tool.response.v1", {"tool": "search", "status": "error", "error": text, "output": text, "request_id": f"{calls}2"}),
        ("tool.request.v1", {"tool": "calculator", "input": nested, "requestId": f"{calls}3"}),
        ("tool.error.v1", {"tool_name": "calculator", "error_message": text, "error_type": text, "request_id": f"{calls}3"}),
        ("user.message.v1", {"content": text, "number": calls}),  # else the next one is a retry of it
    ]


def _call(identity: str, tool: str, text: str, nested: Record) -> Record:
    return {"tool": tool, "input": {"query": text, "nested": nested}, "requestId": identity}


def _record(number: int, schema: str, body: Record) -> Record:
    return {
        "id": f"m{number}",
        "schema_name": schema,
        "context": body,
        "created_at": f"2026-09-14T{9 + number // 60:02}:{number % 60:02}:00Z",
    }


def breadcrumbs(records: list[Record], session: str = "s1") -> list[Breadcrumb]:
    """As the service reads them; what it rejects is left out."""
    read = []
    for number, record in enumerate(records, 1):
        try:
            read.append(decode(outgoing(record, "acme", session).arrive(make_place(number), MORNING)))
        except Rejected:
            continue
    return read


async def page_of(crumbs: list[Breadcrumb], profile: Profile | None = None) -> str:
    """The page that the last of them asks for. Raises `Rejected`."""
    profile = profile or profile_of()
    builder = open_builder()
    *earlier, trigger = crumbs
    for crumb in earlier:
        await builder.remember(crumb)
    result = await builder.build(trigger, (profile,))
    if result.rejected:
        raise Rejected(result.rejected[0])
    return result.contexts[0].markdown


def open_builder() -> ContextBuilder:
    """Bundled templates over an empty store; terms are words."""
    return scratch_builder(durable_store(), HashingEmbedder(), lambda text: " ".join(text.lower().split()[:50]))


def roots(page: str) -> list[str]:
    """The lines that begin something at the root of a page."""
    return [line for line in page.split("\n") if line and not line.startswith(" ")]


def outline(page: str) -> list[str]:
    """What markdown sees at the root: headings with their text, lists with the number of their items."""
    found = []
    for token in MARKDOWN.parse(page):
        if token.level == 0 and token.type != "inline" and token.nesting >= 0:
            found.append(token.type)
        elif token.level == 1 and token.type in {"inline", "list_item_open"}:
            found.append(token.content if token.type == "inline" else token.type)
    return found


def labels(page: str, text: str = HARMLESS) -> list[str]:
    """What stands in front of the text in each line at the root."""
    return [re.split(re.escape(text), line, maxsplit=1)[0].rstrip(" :(") for line in roots(page)]
