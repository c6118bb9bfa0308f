"""A dry run: contexts are compared with those of the deployment's own builder, and nothing is written."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache

from builder.domain.breadcrumb import AGENT_CONTEXT, ORIGIN
from builder.domain.control_text import visible
from builder.extras.rcrt.records import Change, context_record
from builder.remember.decode import readable
from builder.wire.records import Outgoing
from builder.wire.words import text_of

MAX_PAIRS = 1_000
"""Contexts that wait for their counterpart, and sessions whose messages are remembered."""
Key = tuple[str, str]
"""Consumer and trigger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page of one builder for a trigger."""

    tokens: int
    sections: int
    """0 = it has none."""
    messages: int
    """Messages of the session that are on it word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One trigger, as both builders answer it."""

    consumer: str
    trigger: str
    session_messages: int
    ours: Page
    theirs: Page | None
    """None = nothing came of the deployment's builder yet."""
    content: str
    """Our page."""


class DryRun:
    """Implements `Writer`."""

    def __init__(self, count: Callable[[str], int], report: Callable[[Comparison], None]) -> None:
        """count: text → tokens. report: called for each of our contexts, and again when its counterpart comes."""
        self._count = count
        self._report = report
        self._texts: LRUCache[Key, dict[str, str]] = LRUCache(MAX_PAIRS)
        """Owner and session → id → text."""
        self._ours: LRUCache[Key, tuple[dict[str, Any], str]] = LRUCache(MAX_PAIRS)
        self._theirs: LRUCache[Key, Mapping[str, Any]] = LRUCache(MAX_PAIRS)

    def note(self, event: Outgoing) -> None:
        """A message is published."""
        crumb = readable(event.arrive(ORIGIN, datetime.now(UTC)))
        if crumb is not None and crumb.role in {"user", "assistant"}:
            self._texts.setdefault((crumb.workspace, crumb.session), {})[crumb.id] = crumb.text

    def hear(self, change: Change) -> None:
        """An event came; one of a context is of the deployment's builder."""
        body = change.own.get("context") if change.own and change.schema == AGENT_CONTEXT else None
        if isinstance(body, dict):
            key = str(body.get("consumer_id")), str(body.get("trigger_event_id"))
            is_news = self._theirs.get(key) != body  # each record is announced twice
            self._theirs[key] = body
            if is_news and key in self._ours:
                self._compare(key)

    async def write(self, data: bytes, *, again: bool) -> str:
        """Compare instead."""
        record = context_record(data)
        key = record.consumer, record.trigger
        if not again:
            self._ours[key] = dict(record.context), record.workspace
            self._compare(key)
        return "compared"

    def _compare(self, key: Key) -> None:
        event, workspace = self._ours[key]
        texts = tuple(self._texts.get((workspace, event["session_id"]), {}).values())
        theirs = self._theirs.get(key)
        self._report(
            Comparison(
                consumer=key[0],
                trigger=key[1],
                session_messages=len(texts),
                ours=self._page(event["content"], event["content"], len(event["sections"]), texts),
                theirs=self._their_page(theirs, texts) if theirs else None,
                content=event["content"],
            )
        )

    def _their_page(self, body: Mapping[str, Any], texts: tuple[str, ...]) -> Page:
        """Its agents are sent the formatted text, or else the whole body as JSON."""
        formatted = body.get("formatted_context")
        sent = formatted if isinstance(formatted, str) else json.dumps(body, ensure_ascii=False)
        words = sent if isinstance(formatted, str) else text_of(body)
        return self._page(sent, words, sent.count("\n=== ") + sent.startswith("=== "), texts)

    def _page(self, sent: str, words: str, sections: int, texts: tuple[str, ...]) -> Page:
        page = " ".join(words.split())
        on_it = sum(" ".join(visible(text).split()) in page for text in texts)
        return Page(tokens=self._count(sent), sections=sections, messages=on_it)
