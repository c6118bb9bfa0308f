"""What an installation published and what its agents said about it: the numbers behind `context-builder cost`."""

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from builder.adapters.nats.stream import NatsStream
from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS
from builder.adapters.tokens import load_encoder
from builder.app.broker import connected
from builder.app.settings import Settings
from builder.domain.breadcrumb import Place, StreamMessage

RESPONSE = "agent.response.v1"
ANSWER_ENCODING = "o200k_base"
ANY = "*"
TriggerKey = tuple[str, str, str]
"""Workspace, consumer and id of the trigger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One published context."""

    trigger: TriggerKey
    session: str
    moment: datetime
    tokens: int
    reused: int
    """Tokens with which the page before it in its session began, too; 0 for the first."""
    pause: float
    """Seconds since that page; 0 for the first."""
    tokens_by_class: dict[str, int]
    """Of its sections: static, slow or turn."""


@dataclass(slots=True)
class Traffic:
    """What was published in a stretch of time."""

    pages: list[Page] = field(default_factory=list)
    answers: dict[TriggerKey, int] = field(default_factory=dict)
    """Tokens of the agent's responses to a context, tool calls included."""
    unreadable: int = 0
    """Contexts that were erased, or are none."""


async def read_traffic(
    settings: Settings,
    servers: str,
    workspace: str,
    since: datetime,
    progress: Callable[[int, int], None],
) -> Traffic:
    """The contexts since then in the order of their publication, and the responses to them.

    workspace: "" = all. progress: called with (sequence, last sequence) of the contexts. Raises `Unavailable`.
    """
    reader, place = TrafficReader(since), workspace or ANY
    async with connected(settings, servers) as connection:
        js = connection.jetstream()
        contexts, breadcrumbs = (NatsStream(js, lambda: 0, kind, settings.installation) for kind in (CONTEXTS, BREADCRUMBS))
        last = await contexts.last()
        async for arrival in contexts.follow(f"contexts.{place}.>", 1, Place(0, last.sequence + 1)):
            reader.page(arrival)
            progress(arrival.place.sequence, last.sequence)
        end = await breadcrumbs.last()
        if reader.first_trigger:
            subject, until = f"breadcrumbs.{place}.*.{RESPONSE}", Place(0, end.sequence + 1)
            async for arrival in breadcrumbs.follow(subject, reader.first_trigger, until):
                reader.response(arrival)
    return reader.traffic


class TrafficReader:
    """Messages of the streams → traffic. Of each session it keeps the last page only."""

    def __init__(self, since: datetime) -> None:
        """since: older pages are only compared with."""
        self._since = since
        self.traffic = Traffic()
        self.first_trigger = 0
        """Sequence of the oldest trigger: what is said about the contexts came later. 0 = no contexts."""
        self._triggers: set[TriggerKey] = set()
        self._latest: dict[tuple[str, str, str], tuple[array[int], datetime]] = {}

    def page(self, arrival: StreamMessage) -> None:
        """Take a context."""
        event = _object(arrival.data)
        try:
            self._add(event, arrival.received_at)
        except (KeyError, TypeError, ValueError):
            self.traffic.unreadable += 1

    def _add(self, event: dict[str, Any], moment: datetime) -> None:
        workspace, consumer, session = event["workspace"], event["consumer_id"], event["session_id"]
        key, agent = (workspace, consumer, session), event.get("agent_id") or consumer
        trigger = (workspace, agent, event["trigger_event_id"])
        tokens = array("l", load_encoder(event["assembly"]["tokenizer"])(event["content"]))
        by_class: dict[str, int] = {}
        for section in event["sections"]:
            by_class[section["class"]] = by_class.get(section["class"], 0) + section["tokens"]
        before, then = self._latest.get(key, (array("l"), moment))
        self._latest[key] = tokens, moment
        if moment < self._since:
            return
        page = Page(
            trigger=trigger,
            session=session,
            moment=moment,
            tokens=event["token_count"],
            reused=sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, tokens, strict=False))),
            pause=max((moment - then) / timedelta(seconds=1), 0.0),
            tokens_by_class=by_class,
        )
        self.traffic.pages.append(page)
        self._triggers.add(trigger)
        self.first_trigger = min(self.first_trigger or event["trigger_seq"], event["trigger_seq"])

    def response(self, arrival: StreamMessage) -> None:
        """Take an agent's response; one to no context of the traffic counts nothing."""
        body = _object(arrival.data).get("context")
        if not isinstance(body, dict):
            return
        creator = body.get("creator")
        agent = creator.get("agent_id") if isinstance(creator, dict) else None
        trigger = (arrival.subject.split(".")[1], str(agent), str(body.get("trigger_event_id")))
        if trigger in self._triggers:
            size = len(load_encoder(ANSWER_ENCODING)("\n".join(_texts(body))))
            self.traffic.answers[trigger] = self.traffic.answers.get(trigger, 0) + size


def _texts(body: dict[str, Any]) -> Iterator[str]:
    """What the model wrote: the words and the calls."""
    yield str(body.get("message") or body.get("content") or body.get("text") or "")
    calls = body.get("tool_requests")
    yield from (json.dumps(call, ensure_ascii=False) for call in (calls if isinstance(calls, list) else ()))


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object in the bytes; an empty one where there is none."""
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
