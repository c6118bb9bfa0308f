"""The AsyncAPI 3 document: every channel, message and header, read from the code that defines subjects, bodies and requests."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nats.js.api import Header
from nats.micro.request import ERROR_CODE_HEADER, ERROR_HEADER
from nats.micro.service import DEFAULT_PREFIX, ServiceInfo, ServicePing, ServiceStats
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from builder import __version__
from builder.adapters.nats.publisher import DeadLetter, letter_subject
from builder.adapters.nats.topology import PROBES_SUBJECT, PURGE_KEY, Topology, stream_configs
from builder.app.context_event import AgentContextV1
from builder.app.requests import Failure, all_requests
from builder.client.sending import EXPECTED_LAST_HEADER
from builder.connection.names import DEFAULT, FORGOTTEN_HEADER, MESSAGE_ID_HEADER, REPLAY_HEADER, TIMES_HEADER
from builder.domain.breadcrumb import AGENT_CONTEXT, CONTEXT_COMPACTED, Place
from builder.extras.contracts.descriptions import Untitled
from builder.publish.reports import ContextCompactedV1
from builder.remember.decode import BODIES
from builder.remember.record import Record
from builder.wire import subjects
from builder.wire.requests import OF_AGENT

JSON = dict[str, Any]
STREAM_HEADER = Header.EXPECTED_STREAM.value
HEADERS = {
    MESSAGE_ID_HEADER: "makes a repetition harmless: `workspace:id:version`, percent-encoded; of a context its id; of a dead "
    "letter the place of its message",
    STREAM_HEADER: "the stream that shall keep it: no other server acknowledges it",
    REPLAY_HEADER: "`1`: remembered, never a trigger, as imports and summaries",
    EXPECTED_LAST_HEADER: "sequence of the session's last response that the agent has read; the server refuses an answer that "
    "overlooks another",
    TIMES_HEADER: "milliseconds of the delivery, as `wait=3 catch_up=1 embedding=7 recall=2 page=9`",
    FORGOTTEN_HEADER: "`1`: the stub of a context that showed something forgotten",
    ERROR_HEADER: "the error, in one line",
    ERROR_CODE_HEADER: "400 = rejected, 503 = unavailable, 500 = a bug",
    "traceparent": "W3C trace context: what a message causes belongs to its trace",
    "tracestate": "W3C trace state",
}
STORED = (MESSAGE_ID_HEADER, STREAM_HEADER)
TRACE = ("traceparent", "tracestate")
PARAMETERS = {
    "workspace": "the tenant; nothing crosses it",
    "session": "token of the conversation; `_` = of none",
    "schema": "name and version of the body's schema",
    "consumer": "the agent that the context is for",
    "context_id": "UUIDv5 of workspace, session, trigger id and consumer",
    "incarnation": "creation time of the stream, in microseconds",
    "sequence": "place of the message in the stream",
    "instance": "id of one process, as PING tells it",
}
"""In a subject, `-name-` stands for each: the functions of `wire/subjects.py` take these as tokens."""
WORKSPACE, SESSION, CONSUMER = "-workspace-", "-session-", "-consumer-"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is sent on a subject, and what is answered."""

    name: str
    action: Literal["send", "receive"]
    """The service's."""
    subject: str
    messages: JSON
    answers: JSON = field(default_factory=dict)


def asyncapi_text() -> str:
    """The document as its file has it, with every schema in it."""
    kinds: Mapping[str, Any] = {
        **BODIES, "record": Record, AGENT_CONTEXT: AgentContextV1, CONTEXT_COMPACTED: ContextCompactedV1,
        "deadLetter": DeadLetter, "failure": Failure, "PING": ServicePing, "INFO": ServiceInfo, "STATS": ServiceStats,
        **{f"{name}.request": each.model for name, each in all_requests().items()},
        **{f"{name}.answer": each.answer for name, each in all_requests().items()},
    }  # fmt: skip
    inbound = {*BODIES, "record", *(f"{name}.request" for name in all_requests())}
    modes: dict[str, JsonSchemaMode] = {name: "validation" if name in inbound else "serialization" for name in kinds}
    inputs = [(name, modes[name], TypeAdapter(kind)) for name, kind in kinds.items()]
    by_name, definitions = TypeAdapter.json_schemas(
        inputs, ref_template="#/components/schemas/{model}", schema_generator=Untitled
    )
    exchanges = tuple(_exchanges({name: schema for (name, _), schema in by_name.items()}))
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "context-builder",
            "version": __version__,
            "description": "Hears every message of an agent system and publishes the one context that each agent needs. An "
            f"installation with another name than `{DEFAULT.name}` has it and a dot before each subject.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": dict(channel for exchange in exchanges for channel in _channels(exchange)),
        "operations": {exchange.name: _operation(exchange) for exchange in exchanges},
        "components": {"schemas": definitions["$defs"]},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _exchanges(schemas: Mapping[str, JSON]) -> Iterator[Exchange]:
    record = (*STORED, REPLAY_HEADER, EXPECTED_LAST_HEADER, *TRACE)
    bodies = {name: _message(_record(schemas["record"], name, schemas[name]), record) for name in BODIES}
    others = {"breadcrumb": _message(schemas["record"], record)}
    yield Exchange("breadcrumbs", "receive", subjects.breadcrumb_subject(WORKSPACE, SESSION, "-schema-"), bodies | others)
    contexts = {
        AGENT_CONTEXT: _message(schemas[AGENT_CONTEXT], (*STORED, TIMES_HEADER, *TRACE)),
        "forgotten": _message({"type": "object", "maxProperties": 0}, (FORGOTTEN_HEADER, STREAM_HEADER)),
    }
    yield Exchange("contexts", "send", subjects.context_subject(WORKSPACE, CONSUMER, SESSION, "-context_id-"), contexts)
    letters, letter = letter_subject(Place(1, 2)), {"deadLetter": _message(schemas["deadLetter"], STORED)}
    letters = letters.replace("1.2", "-incarnation-.-sequence-")
    yield Exchange("deadLetters", "send", letters, letter)
    yield Exchange("deadLettersOfAgents", "send", f"{letters}.{CONSUMER}", letter)
    compaction = {CONTEXT_COMPACTED: _message(schemas[CONTEXT_COMPACTED])}
    yield Exchange("compactions", "send", subjects.compaction_subject(WORKSPACE, CONSUMER, SESSION), compaction)
    empty = {"empty": _message({"type": "string", "maxLength": 0}, (STREAM_HEADER,))}
    yield Exchange("probes", "send", PROBES_SUBJECT, empty)
    yield Exchange("locks", "send", f"$KV.{DEFAULT.bucket}.{PURGE_KEY}", empty)
    failure = {"failure": _message(schemas["failure"], (ERROR_HEADER, ERROR_CODE_HEADER))}
    for name in all_requests():
        answers = {"answer": _message(schemas[f"{name}.answer"])} | failure
        request = {"request": _message(schemas[f"{name}.request"])}
        subject = subjects.request_subject(WORKSPACE, name, CONSUMER if name in OF_AGENT else "")
        yield Exchange(name, "receive", subject, request, answers)
    for kind in ("PING", "INFO", "STATS"):
        for name, suffix in (("", ""), ("OfService", f".{DEFAULT.name}"), ("OfInstance", f".{DEFAULT.name}.-instance-")):
            answers = {"answer": _message(schemas[kind])}
            yield Exchange(f"{kind.lower()}{name}", "receive", f"{DEFAULT_PREFIX}.{kind}{suffix}", empty, answers)


def _record(record: JSON, schema: str, body: JSON) -> JSON:
    return {"allOf": [record, {"properties": {"schema_name": {"const": schema}, "context": body}}]}


def _message(payload: JSON, headers: tuple[str, ...] = ()) -> JSON:
    properties = {name: {"type": "string", "description": HEADERS[name]} for name in headers}
    return {"payload": payload} | ({"headers": {"type": "object", "properties": properties}} if properties else {})


def _channels(exchange: Exchange) -> Iterator[tuple[str, JSON]]:
    address = re.sub(r"\.-(\w+)-(?=\.|$)", r".{\1}", exchange.subject)
    parameters = {name: {"description": PARAMETERS[name]} for name in re.findall(r"{(\w+)}", address)}
    streams = {str(config.subjects).strip("[]'>"): f"stream {config.name}" for config in stream_configs(Topology())}
    streams["$KV"] = "a key-value bucket, with JetStream's headers"
    stream = next((text for subject, text in streams.items() if exchange.subject.startswith(subject)), "core NATS")
    yield exchange.name, {"address": address, "description": stream, "parameters": parameters, "messages": exchange.messages}
    if exchange.answers:
        inbox = "the reply subject of the request"
        yield f"{exchange.name}.reply", {"address": None, "description": inbox, "messages": exchange.answers}


def _operation(exchange: Exchange) -> JSON:
    name, answers = exchange.name, f"#/channels/{exchange.name}.reply"
    operation: JSON = {"action": exchange.action, "channel": {"$ref": f"#/channels/{name}"}}
    if name in all_requests():
        operation["summary"] = (all_requests()[name].model.__doc__ or "").partition("\n")[0]
        operation["bindings"] = {"nats": {"queue": DEFAULT.name}}
    return operation | ({"reply": {"channel": {"$ref": answers}}} if exchange.answers else {})
