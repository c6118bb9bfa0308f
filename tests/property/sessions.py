"""Strategies: random sessions in five scripts, with tool exchanges in every order, edits and deletions."""
# ruff: noqa: RUF001 - words of many scripts

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, StreamMessage
from builder.domain.errors import Rejected
from builder.domain.stored import StoredBreadcrumb
from builder.remember.decode import decode
from builder.service import ContextBuilder
from tests.factories import MORNING, make_place, remembered_of

SCRIPTS = (
    "the kiln is hot and Ana met Bob in Delft on Friday at 5 not 6",
    "печь горячая и Анна встретила Борю в Дельфте в пятницу не в субботу 5",
    "窑很热。 安娜 在代尔夫特 见到了鲍勃， 星期五 不是 星期六 五点 使用Python",
    "الفرن ساخن والتقت آنا بوب في دلفت يوم الجمعة ليس السبت ٥",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 😀😀😀 5️⃣ ok 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🔥",
)
SPEAKERS = ("", "Ana", "Bob", "Анна", "小明")
WISHES = (
    "Always answer in English.",
    "From now on answer in German.",
    "Never use emojis.",
    "You can use emojis again.",
    "Keep your answers under 90 words.",
    "Keep your answers under 50 words.",
)
MESSAGES = ("user.message.v1", "agent.response.v1", "note.v1", "invoice.v1")


@dataclass(frozen=True, slots=True)
class Session:
    """rows: before the trigger and, from `later` on, after it."""

    rows: tuple[StoredBreadcrumb, ...]
    trigger: StoredBreadcrumb
    later: tuple[StoredBreadcrumb, ...] = ()


@cache
def sentences(longest: int = 40) -> st.SearchStrategy[str]:
    """Words of one script, sometimes very many of them."""
    short = st.sampled_from(SCRIPTS).flatmap(lambda script: _words(script, longest))
    return st.builds(lambda text, times: "\n".join([text] * times), short, st.sampled_from((1, 1, 1, 1, 1, 2, 25)))


@cache
def _words(script: str, longest: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(script.split()), max_size=longest).map(" ".join)


def hear(
    sequence: int, schema: str, body: dict[str, Any], crumb: str = "", version: int = 1, session: str = ""
) -> StoredBreadcrumb:
    """What the service makes of these bytes."""
    session = session or ("_" if schema == "tool.catalog.v1" else "s42")
    record = {"id": crumb or f"m{sequence}", "version": version, "context": body}
    subject, moment = f"breadcrumbs.acme.{session}.{schema}", MORNING.replace(day=1 + sequence // 40, minute=sequence % 40)
    arrival = StreamMessage(subject=subject, data=json.dumps(record).encode(), place=make_place(sequence), received_at=moment)
    return remembered_of(decode(arrival))


def shaped(text: str) -> st.SearchStrategy[Any]:
    """What a tool might answer with this text: the text, a log of it, result lists."""
    row = {"title": text[:20], "snippet": text, "n": 7}
    log = "\n".join(f"2026-03-10 14:00:00 INFO {text[:40]} {n}" for n in range(70))
    return st.sampled_from((text, text, log, [row] * 6, {"results": [row] * 9, "total": 90}, [{"a|b": 1, "c": text[:9]}] * 5))


async def remember(builder: ContextBuilder, *crumbs: Breadcrumb) -> list[Breadcrumb]:
    """Remember them as a worker does. What may not stand under its id is refused, and returned."""
    refused = []
    for crumb in crumbs:
        try:
            await builder.remember(crumb)
        except Rejected:
            refused.append(crumb)
    return refused


@st.composite
def events(draw: st.DrawFn, start: int, most: int, before: tuple[StoredBreadcrumb, ...] = ()) -> list[StoredBreadcrumb]:
    """Rows from place `start` on, behind these."""
    rows: list[StoredBreadcrumb] = []
    for sequence in range(start, start + draw(st.integers(0, most))):
        kind = draw(st.sampled_from(("message", "message", "message", "wish", "call", "tool", "tool", "edit", "delete")))
        text = draw(sentences())
        target = f"m{draw(st.integers(1, max(sequence - 1, 1)))}"
        call = f"r{draw(st.integers(1, 6))}"
        match kind:
            case "message":
                schema, speaker = draw(st.sampled_from(MESSAGES)), draw(st.sampled_from(SPEAKERS))
                rows.append(hear(sequence, schema, {"content": text} | ({"speaker": speaker} if speaker else {})))
            case "wish":
                around = (f"{text} {draw(st.sampled_from(WISHES))}", draw(st.sampled_from(WISHES)))
                rows.append(hear(sequence, "user.message.v1", {"content": draw(st.sampled_from(around))}))
            case "call":
                calls = [{"tool": "search", "input": {"query": text}, "requestId": each} for each in {call, "r1"}]
                rows.append(hear(sequence, "agent.response.v1", {"content": text[:40], "tool_requests": calls}))
            case "tool":
                schema = draw(st.sampled_from(("tool.request.v1", "tool.response.v1", "tool.error.v1")))
                answer = {"tool": "search", "tool_name": "search", "output": draw(shaped(text)), "input": {"query": text[:9]}}
                answer |= {"error_message": text, "request_id": call}
                rows.append(hear(sequence, schema, answer, session=draw(st.sampled_from(("s42", "s42", "_")))))
            case "edit":
                calls = [{"tool": "search", "requestId": call}] if draw(st.booleans()) else []
                body: dict[str, Any] = {"content": text, "tool_requests": calls}
                first = next((row.breadcrumb for row in (*before, *rows) if row.breadcrumb.id == target), None)
                schema = first.schema if first and first.schema in MESSAGES else "agent.response.v1"
                rows.append(hear(sequence, schema, body, target, version=sequence))
            case _:
                where = draw(st.sampled_from(("s42", "_")))
                rows.append(hear(sequence, "breadcrumb.deleted.v1", {"breadcrumb_id": target}, session=where))
    return rows


@st.composite
def sessions(draw: st.DrawFn, most: int = 30, later: int = 0) -> Session:
    """A session of up to `most` rows, its trigger, and up to `later` rows after that."""
    rows = draw(events(1, most))
    place = len(rows) + 1
    trigger = hear(place, "user.message.v1", {"content": draw(sentences())})
    return Session(tuple(rows), trigger, tuple(draw(events(place + 1, later, (*rows, trigger)))))


@st.composite
def catalogs(draw: st.DrawFn) -> tuple[StoredBreadcrumb, ...]:
    """No catalog, a small one or a huge one."""
    tools = [{"name": f"tool-{n}", "description": draw(sentences(8))} for n in range(draw(st.sampled_from((0, 1, 5, 120))))]
    return (hear(1000, "tool.catalog.v1", {"tools": tools}),) if tools else ()
