"""Responses to contexts: each step of an agent is stored once, whichever process sends it."""

from dataclasses import dataclass, replace
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.responses import MAX_MESSAGES, SCHEMA, Conversation, Response, read_conversation, read_responses, response_id
from builder.client.sending import Conflict, Publishing, as_json, check, check_same
from builder.client.stream import StreamReader
from builder.domain.errors import Rejected, Unavailable
from builder.wire.records import Outgoing, make_record


class AnsweredMeanwhile(Rejected):
    """A part of what the context answers was answered on another one."""


MAX_ATTEMPTS = 50
"""Of one response: each other agent that answers in the session at the same moment costs one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Where a response stands."""

    id: str
    """Of the breadcrumb."""
    step: int
    """1 and up."""
    sequence: int
    """In the stream."""
    already_answered: bool
    """The stream had a response under this id or step before, and nothing was stored."""


class Answering:
    """Sends responses. The stream refuses one when another response came in the session since it was read."""

    def __init__(self, reader: StreamReader, publishing: Publishing, max_messages: int = MAX_MESSAGES) -> None:
        """most: messages on one subject that are read to find a step."""
        self._max_messages = max_messages
        self._reader = reader
        self._publishing = publishing

    async def send(
        self,
        context: ReceivedContext,
        body: dict[str, Any],
        step: int | None,
        message_id: str,
        tags: tuple[str, ...] = (),
        to: tuple[str, ...] = (),
    ) -> Answer:
        """Store a response under its step, or return the one that stands there.

        step: None = derived from the stream. message_id: "" = derived from context and step. Raises `Rejected` for a step below
        1, for another response under the message id, and for an id that was forgotten; `Unavailable`.
        """
        if step is not None and step < 1:
            raise Rejected(f"step is {step}; the steps of an agent are 1, 2, 3, …")
        for _ in range(MAX_ATTEMPTS):
            conversation = await self._read(context, step)
            there = next((each for each in conversation.responses if each.id == message_id), None)
            number = step or (there.step if there else conversation.free_step(context.steps, body, has_own_id=bool(message_id)))
            event, identity = _event(context, body, number, message_id, tags, to)
            if there is None and conversation.at(number) is None and (other := _other_answer(context, conversation)):
                return replace(_stored_answer(other), step=number)
            if there is not None:
                check_same(event, await self._reader.at(there.sequence), own_clock=True)
            elif message_id:
                _check_free(conversation, number)
            else:
                there = conversation.at(number)
            try:
                answer = _stored_answer(there) if there else await self._store(context, event, identity, number, conversation)
            except Conflict:
                continue
            context.steps.add(answer.step)
            return answer
        raise Unavailable(
            f"the response to {context.trigger_event_id} was not stored in {MAX_ATTEMPTS} attempts, because other responses come "
            f"in session {context.session_id!r} all the time; send it again"
        )

    async def _read(self, context: ReceivedContext, step: int | None) -> Conversation:
        """A given step needs no results, and is found however long the session is."""
        if step is not None:
            return await read_responses(self._reader, context)
        return await read_conversation(self._reader, context, self._max_messages)

    async def _store(
        self, context: ReceivedContext, event: Outgoing, identity: str, step: int, conversation: Conversation
    ) -> Answer:
        if identity in conversation.tombstones:
            raise Rejected(f"the response {identity} was forgotten, nothing is kept under its id again; take another step or id")
        if context.trigger_event_id in conversation.tombstones:
            raise Rejected(f"the message {context.trigger_event_id} was deleted meanwhile; nothing answers it")
        published = await self._publishing.publish(event, own_clock=True, last=conversation.last)
        return Answer(id=identity, step=step, sequence=published.sequence, already_answered=published.duplicate)


def _other_answer(context: ReceivedContext, conversation: Conversation) -> Response | None:
    """The reply to all that this context asks that another one has. Raises `AnsweredMeanwhile` for a part of it."""
    others = [conversation.others[name] for name in context.questions if name in conversation.others]
    if others and len(others) < len(context.questions):
        raise AnsweredMeanwhile(
            f"{len(others)} of the {len(context.questions)} messages that context {context.id} answers were answered meanwhile, "
            f"by {others[-1].id}; ask for what is left: context = await client.refresh(context)"
        )
    return others[-1] if others else None


def _check_free(conversation: Conversation, step: int) -> None:
    """Each step has one response. Raises `Rejected`."""
    other = conversation.at(step)
    if other is not None:
        raise Rejected(f"step {step} has the response {other.id!r} already; take another step, or its id")


def _event(
    context: ReceivedContext, body: dict[str, Any], step: int, message_id: str, tags: tuple[str, ...], to: tuple[str, ...]
) -> tuple[Outgoing, str]:
    """What is published, and its id."""
    identity = message_id or response_id(context.id, step)
    record = make_record(SCHEMA, identity, context.session_token, {**body, "step": step}, tags=tags, to=to)
    event = as_json(record, context.workspace)
    check(event)
    return event, identity


def _stored_answer(response: Response) -> Answer:
    return Answer(id=response.id, step=response.step, sequence=response.sequence, already_answered=True)
