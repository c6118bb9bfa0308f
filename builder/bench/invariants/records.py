"""What one record says: its words, the calls that it makes or answers, and who makes them."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

RESULTS = frozenset({"tool.response.v1", "tool.error.v1"})
TOOLS = RESULTS | {"tool.request.v1"}
POINTERS = frozenset({"trigger_event_id", "questions", "step"})
WORDS = frozenset({"user.message.v1", "agent.response.v1"})
Record = Mapping[str, Any]


def is_said(record: Record) -> bool:
    """Whether it is a part of a conversation."""
    return record["schema_name"] in WORDS | TOOLS


def is_retry(record: Record, later: Record) -> bool:
    """Whether the same was sent once more within five minutes. Records have their arrival as `at`."""
    bodies = [{name: value for name, value in each["context"].items() if name not in POINTERS} for each in (record, later)]
    answers = [each["context"].get("trigger_event_id") or "" for each in (record, later)]
    is_same = (
        bodies[0] == bodies[1]
        and answers[1] in ("", answers[0])
        and (record["schema_name"], record["version"]) == (later["schema_name"], later["version"])
    )
    is_word = record["schema_name"] in WORDS and bool(text_of(record).strip()) and not calls_of(record)[1]
    return is_same and is_word and record["id"] != later["id"] and later["at"] - record["at"] <= timedelta(minutes=5)


def agent_of(record: Record) -> str:
    """The agent that says or calls it; "" = nobody says which."""
    return str(record["context"].get("creator", {}).get("agent_id", ""))


def text_of(record: Record) -> str:
    """The words of a message."""
    body = record["context"]
    return str(next(body[name] for name in ("content", "message", "text") if body.get(name) is not None))


def calls_of(record: Record) -> tuple[list[str], list[str]]:
    """The request ids that it answers, and the names of the calls that it makes, see `requests_of`."""
    own = [record["context"][name] for name in ("request_id", "requestId") if record["context"].get(name)][:1]
    return (own, []) if record["schema_name"] in RESULTS else ([], [*own, *requests_of(record)])


def requests_of(record: Record) -> dict[str, Record]:
    """The calls of a message by name: its request id, or `ID-2` for another one under an id that its message has used."""
    requests: dict[str, Record] = {}
    for request in record["context"].get("tool_requests", ()):
        identity, same = request.get("requestId"), [each for each in requests.values() if each == request]
        number = sum(each["requestId"] == identity for each in requests.values())
        if identity and not same:
            requests[f"{identity}-{number + 1}" if number else identity] = request
    return requests


def call_of(record: Record, call: str) -> Record:
    """Tool and input of a call."""
    body = record["context"]
    return requests_of(record).get(call) or (body if not call or body.get("requestId") == call else body["tool_requests"][-1])


def arguments_of(record: Record, call: str) -> str:
    """Tool and arguments as one text: equal for equal calls."""
    request = call_of(record, call)
    return json.dumps([request["tool"], request.get("input")], sort_keys=True)
