"""What an installation published, and what its conversations held then: the counts behind `context-builder cost`."""

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from builder.adapters.nats.requests import Subscription, read_subscriptions
from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.adapters.tokens import load_encoder
from builder.app.broker import connected
from builder.app.settings import Settings
from builder.domain.breadcrumb import ORIGIN, Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode

PAGE, WHOLE, LAST = "page", "whole conversation", "last 20 messages"
LAST_MESSAGES = 20
ROLES = frozenset({"user", "assistant", "tool"})
REQUEST = "tool.request.v1"
"""Repeats the call of an agent's message, which counts once."""
ANSWER_ENCODING = "o200k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One published context."""

    key: tuple[str, str, str]
    """Workspace, consumer and session."""
    agent: str
    trigger: str
    sequence: int
    """Of its trigger."""
    encoding: str
    moment: datetime
    pause: float
    """Seconds since the page before it in its session; 0 for the first."""
    static: int
    """Tokens of its static sections: system prompt and tool catalog, which an agent sends in any form."""
    sent: dict[str, tuple[int, int]]
    """Tokens of the page, and of what an agent would send without it; and with how many what came before it began, too."""
    answers: list[int] = field(default_factory=list)
    """Tokens of each response of the agent to it."""


class Traffic:
    """Messages of the streams → pages. Of each session it keeps the last page only."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.unreadable = 0
        """Contexts that were erased, or are none."""
        self.subscriptions: tuple[Subscription, ...] = ()
        self._latest: dict[tuple[str, str, str], tuple[array[int], datetime]] = {}

    def add(self, arrival: StreamMessage) -> None:
        """Take a context."""
        try:
            event, moment = json.loads(arrival.data), arrival.received_at
            key, encoding = (event["workspace"], event["consumer_id"], event["session_id"]), event["assembly"]["tokenizer"]
            tokens = array("l", load_encoder(encoding)(event["content"]))
            before, then = self._latest.get(key, (array("l"), moment))
            self.pages.append(
                Page(
                    key=key, agent=event.get("agent_id") or key[1], trigger=event["trigger_event_id"], encoding=encoding,
                    sequence=event["trigger_seq"], moment=moment, pause=max((moment - then) / timedelta(seconds=1), 0.0),
                    static=sum(each["tokens"] for each in event["sections"] if each["class"] == "static"),
                    sent={PAGE: (len(tokens), _alike(before, tokens))},
                )
            )  # fmt: skip
            self._latest[key] = tokens, moment
        except (KeyError, TypeError, ValueError):
            self.unreadable += 1

    def compare(self, pages: Sequence[Page], crumbs: Sequence[Breadcrumb]) -> None:
        """Count what each page of a session stands for, as of its trigger, and what was answered. crumbs: all, in order."""
        before: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        sizes = {
            name: [_tokens(crumb, name) for crumb in crumbs] for name in {ANSWER_ENCODING, *(page.encoding for page in pages)}
        }
        for page in pages:
            newest: dict[str, int] = {}
            for number, crumb in enumerate(crumbs):
                is_sent = crumb.place.sequence <= page.sequence and crumb.role in ROLES and crumb.schema != REQUEST
                if is_sent and (crumb.id not in newest or crumb.version > crumbs[newest[crumb.id]].version):
                    newest[crumb.id] = number
                if crumb.answers == page.trigger and crumb.agent == page.agent:
                    page.answers.append(sizes[ANSWER_ENCODING][number])
            whole = [(number, sizes[page.encoding][number]) for number in newest.values()]
            for form, messages in ((WHOLE, whole), (LAST, whole[-LAST_MESSAGES:])):
                pieces, previous = [(-1, page.static), *messages], before[page.key[1], form]
                page.sent[form] = sum(size for _, size in pieces), sum(size for _, size in pieces[: _alike(previous, pieces)])
                before[page.key[1], form] = pieces


async def read_traffic(
    settings: Settings, servers: str, workspace: str, since: datetime, progress: Callable[[int, int], None]
) -> Traffic:
    """The contexts since then, and what their sessions held. workspace: "" = all. Raises `Unavailable`.

    progress: called with (sequence, last sequence) of the contexts.
    """
    traffic, sessions = Traffic(), defaultdict[tuple[str, str], list[Page]](list)
    async with connected(settings, servers) as connection:
        js = connection.jetstream()
        contexts, breadcrumbs = (NatsStream(js, lambda: 0, kind, settings.installation) for kind in (CONTEXTS, BREADCRUMBS))
        last, end = await contexts.last(), await breadcrumbs.last()
        async for arrival in contexts.follow(f"contexts.{workspace or '*'}.>", 1, last.next):
            traffic.add(arrival)
            progress(arrival.place.sequence, last.sequence)
        for page in traffic.pages:
            sessions[page.key[0], page.key[2]].append(page)
        for (tenant, session), pages in sessions.items():
            if pages[-1].moment >= since:
                traffic.compare(pages, await _session(breadcrumbs, tenant, session, end.next))
        traffic.pages = [page for page in traffic.pages if page.moment >= since]
        traffic.subscriptions = await read_subscriptions(js, settings.installation, datetime.now(UTC))
    return traffic


async def _session(stream: NatsStream, workspace: str, session: str, until: Place) -> list[Breadcrumb]:
    """What can be read of it."""
    crumbs: list[Breadcrumb] = []
    async for arrival in stream.walk(workspace, session, ORIGIN, until):
        with suppress(Rejected):
            crumbs.append(decode(arrival))
    return crumbs


def _tokens(crumb: Breadcrumb, encoding: str) -> int:
    """Of its words and calls."""
    return len(load_encoder(encoding)("\n".join((crumb.text, *crumb.call_signatures))))


def _alike(before: Sequence[object], now: Sequence[object]) -> int:
    """How many pieces both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
