"""A session as the requests of a model tell it: with its whole history, the end of it, or the newest message alone."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builder.client import BreadcrumbRecord, BuilderError, Rejected
from builder.client.reading import ChatReader
from builder.client.replying import read_reply
from builder.domain.json_values import JsonObject
from builder.integrations.conversation import AT_ONCE, Conversation
from builder.integrations.messages import RESPONSE, USER, is_of_system, number_there, text_of

log = logging.getLogger("builder.integrations")

Chat = list[JsonObject]
Bodies = Sequence[tuple[str, JsonObject]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of the model."""

    page: Chat
    """As messages of OpenAI."""
    question: str
    """Id of the user's message; "" = none."""


class Turns:
    """The calls of one session. It may be used from several threads."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._newest: tuple[object, str] | None = None
        """Words of the answer that was published last, and its question; None = what is stored must be looked at."""

    def begin(self, messages: Sequence[Mapping[str, Any]]) -> Turn | None:
        """Publish what is new; None = nothing is asked. Raises `Rejected`, `Unavailable`.

        What comes after the last answer is new, but for what the session ends with already. Of what comes before, only an answer
        and its likes that were lost are: the rest was published when it was said.
        """
        reader = ChatReader()
        bodies = [body for message in messages for body in reader.read(message)]
        first = next((number for number in range(len(bodies), 0, -1) if _is_answer(*bodies[number - 1])), 0)
        if not bodies[first:]:
            return None
        newest, self._newest = self._newest, None
        if newest and (not first or words_of(*bodies[first - 1]) == newest[0]):
            return self._publish(bodies[first:], newest[1], "")
        records = self._records()
        question = next((record.id for record in records if record.schema == USER), "")
        new = [*_lost(bodies[:first], records), *bodies[first + number_there(records, bodies[first:]) :]] if records else bodies
        return self._publish(new, question, records[0].id if records else "")

    def end(self, turn: Turn, message: Mapping[str, Any]) -> None:
        """Publish what the model said; what cannot be published is logged, because the caller has the answer."""
        try:
            for schema, body in (bodies := ChatReader().read(message)):
                self._conversation.publish(schema, body, turn.question)
        except BuilderError as error:
            log.warning("the model's answer in session %s is not remembered: %s", self._conversation.session, error)
            return
        if bodies:
            self._newest = words_of(*bodies[-1]), turn.question

    def _publish(self, bodies: Bodies, question: str, newest: str) -> Turn:
        """newest: id of the newest record."""
        for schema, body in bodies:
            newest = self._conversation.publish(schema, body, question)
            question = newest if schema == USER else question
        try:
            return Turn(self._conversation.page_of(newest), question)
        except Rejected:  # of a result while another call is open: then the page is that of their question
            return Turn(self._conversation.page(), question)

    def _records(self) -> list[BreadcrumbRecord]:
        """The newest first, back to a user's message."""
        records: list[BreadcrumbRecord] = []
        for record in self._conversation.records():
            records.append(record)
            if len(records) >= AT_ONCE and record.schema == USER:
                break
        return records


def words_of(schema: str, body: Mapping[str, Any]) -> object:
    """To compare messages by, however their vendor and the caller write them."""
    if schema != RESPONSE:
        return schema, *(text_of(body.get(name)) for name in ("content", "output", "error", "request_id"))
    content = body.get("message") or ""
    text = content if isinstance(content, str) else read_reply({"content": content}).text
    calls = [(call.get("requestId") or call.get("request_id"), call["tool"]) for call in body.get("tool_requests") or ()]
    return schema, text.strip(), tuple(calls)


def _is_answer(schema: str, body: Mapping[str, Any]) -> bool:
    return schema == RESPONSE and not is_of_system(body)


def _lost(before: Bodies, records: Sequence[BreadcrumbRecord]) -> Bodies:
    """Bodies before the new messages that come after the last stored one.

    An answer in other words is no lost one: the caller has cut or trimmed it. Where nothing is stored as it is here, nothing is
    lost: the caller has put other words for all of it.
    """
    there = {words_of(record.schema, record.body): number for number, record in reversed([*enumerate(records)])}
    place = next((number for number in range(len(before), 0, -1) if words_of(*before[number - 1]) in there), 0)
    lost = before[place:] if place else ()
    if lost and _is_answer(*lost[0]):
        after = there[words_of(*before[place - 1])] - 1
        if after >= 0 and _is_answer(records[after].schema, records[after].body):
            return lost[1:]
    return lost
