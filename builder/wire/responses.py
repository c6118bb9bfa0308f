"""An agent's responses to a context, with the results of their calls, as the service tells them to the agent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from builder.domain.json_values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One `agent.response.v1` to a context as the stream has it."""

    id: str
    step: int
    """From 1."""
    sequence: int
    message: str
    tool_requests: tuple[JsonObject, ...]
    """As they were sent."""
    results: Mapping[str, JsonObject] = field(default_factory=dict)
    """Request id → body of the first `tool.response.v1` or `tool.error.v1`."""

    @property
    def open_calls(self) -> tuple[JsonObject, ...]:
        """The calls that have no result."""
        return tuple(call for call in self.tool_requests if request_id(call) not in self.results)

    @property
    def is_complete(self) -> bool:
        """Each of its tool calls has its result."""
        return bool(self.tool_requests) and all(request_id(call) in self.results for call in self.tool_requests)


def response_of(identity: str, sequence: int, message: str, body: Mapping[str, Any], before: Iterable[Response] = ()) -> Response:
    """before: earlier responses; one without a step is the next."""
    step = body.get("step")
    return Response(
        id=identity,
        step=step if type(step) is int and step > 0 else 1 + max((each.step for each in before), default=0),
        sequence=sequence,
        message=message,
        tool_requests=tuple(call for call in body.get("tool_requests") or () if isinstance(call, dict)),
    )


def questions_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """User messages that a response answers, or calls tools for."""
    names = body.get("questions")
    return tuple(map(str, names)) if isinstance(names, list) and names else (str(body.get("trigger_event_id") or ""),)


def agent_of(body: Mapping[str, Any]) -> str:
    """The agent that a body names as its creator; "" = none."""
    creator = body.get("creator")
    agent = creator.get("agent_id") if isinstance(creator, Mapping) else None
    return agent if isinstance(agent, str) else ""


def request_id(call: Mapping[str, Any]) -> str:
    """Joins call and result; "" = none."""
    name = call.get("requestId") or call.get("request_id")
    return name if isinstance(name, str) else ""
