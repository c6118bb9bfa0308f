"""An agent's responses to a context and its next step, as the service tells them."""

import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from builder.client.received import ReceivedContext
from builder.client.requests import Requests
from builder.client.results import read_result
from builder.domain.breadcrumb import AGENT_RESPONSE
from builder.wire.requests import MAX_RESPONSES
from builder.wire.responses import Response, request_id

__all__ = ["Conversation", "Response", "read_conversation", "request_id", "response_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages after a context's trigger."""

    context_id: str
    responses: tuple[Response, ...]
    """This agent's, by step."""
    tombstones: frozenset[str]
    """Forgotten ids."""
    last: int
    """Sequence of the session's newest response of any agent; 0 = none."""
    others: Mapping[str, Response] = field(default_factory=dict)
    """User message → this agent's answer or calls on another context."""
    is_answered_by_others: bool = False
    """Another agent has answered the trigger, or called tools for it."""
    has_gone_on: bool = False
    """Anything came in the session after the trigger."""

    def at(self, step: int) -> Response | None:
        """The response of a step."""
        return next((each for each in self.responses if each.step == step), None)

    def free_step(self, finished: AbstractSet[int], body: Mapping[str, Any], *, has_own_id: bool) -> int:
        """The step of the response that is sent now. has_own_id: it repeats none.

        A response with the request id of a stored call is that step. After the final answer a redelivered context starts over:
        calls match the first unseen step with calls, none the first without.
        """
        if has_own_id:
            return 1 + max((*finished, *(response.step for response in self.responses)), default=0)
        calls = {request_id(call) for call in body.get("tool_requests") or ()} - {""}
        for response in self.responses:
            if not calls.isdisjoint(map(request_id, response.tool_requests)):
                return response.step
        if self._is_final(finished):
            alike = (each.step for each in self.responses if bool(each.tool_requests) == bool(body.get("tool_requests")))
            return next((step for step in alike if step not in finished), self.next_step(finished))
        return self.next_step(finished)

    def _is_final(self, finished: AbstractSet[int]) -> bool:
        last = self.responses[-1] if self.responses else None
        return last is not None and not last.tool_requests and last.step not in finished and last.id not in self.tombstones

    def next_step(self, finished: AbstractSet[int]) -> int:
        """The first step whose round is open, or a new one.

        Rounds end when each call has a result, was handled in this delivery (finished), or was forgotten.
        """
        for response in self.responses:
            if not (response.is_complete or response.step in finished or response.id in self.tombstones):
                return response.step
        last_step = max((*finished, *(response.step for response in self.responses)), default=0)
        while response_id(self.context_id, last_step + 1) in self.tombstones:
            last_step += 1
        return last_step + 1


def response_id(context_id: str, step: int) -> str:
    """UUIDv5 of the context and the step."""
    return str(uuid.uuid5(uuid.UUID(context_id), f"{AGENT_RESPONSE} {step}"))


async def read_conversation(
    service: Requests, context: ReceivedContext, *, with_results: bool = True, most: int = MAX_RESPONSES
) -> Conversation:
    """Responses after the context's trigger. most: messages of a subject, with results.

    Raises `Rejected` beyond `most`, `Unavailable`.
    """
    request = {
        "agent": context.agent_id, "consumer": context.consumer_id, "session": context.session_token,
        "trigger": context.trigger_event_id, "trigger_seq": context.trigger_seq, "with_results": with_results, "most": most,
    }  # fmt: skip
    answer = await service.request("responses", request)
    return Conversation(
        context_id=context.event["id"],
        responses=tuple(read_result(Response, each) for each in answer["responses"]),
        tombstones=frozenset(answer["forgotten"]),
        last=answer["last"],
        others={name: read_result(Response, each) for name, each in answer["others"].items()},
        is_answered_by_others=answer["is_answered_by_others"],
        has_gone_on=answer["has_gone_on"],
    )
