"""A real HTTP server that answers as both APIs of OpenAI and Anthropic's messages do: whole, streamed, tools, errors."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.chat_rules import broken_by_anthropic, broken_by_openai, broken_by_responses

Json = dict[str, Any]
CITIES = {"Oslo": "10 degrees", "Lima": "19 degrees"}
EMPTY: dict[str, Json] = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
"""Blocks of Anthropic as a stream begins them."""
UNSAID: dict[str, Json] = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}
"""Items of OpenAI's responses as a stream begins them."""
FAILURE = "Break."
FACT, ASKED, KNOWN = "The kiln is called K-4711.", "Which kiln is it?", "It is K-4711."
WEATHER, WARMER = "Where is it warmer, Oslo or Lima?", "Lima is warmer."


class VendorServer(ThreadingHTTPServer):
    """It knows of the kiln only what it reads, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Json] = []
        """Bodies, the oldest first."""
        self.refusals: list[str] = []
        """Rules of the vendor that a request broke."""

    @property
    def url(self) -> str:
        """Of Anthropic's API; that of OpenAI is below `/v1`."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, VendorServer)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if FAILURE in json.dumps(_said(body)[-1]):
            self._send(400, "application/json", json.dumps({"error": {"type": "invalid", "message": "it is broken"}}))
        elif self.path.endswith("/chat/completions"):
            self.server.refusals += broken_by_openai([each for each in body["messages"] if each["role"] != "developer"])
            self._answer(body, _chunks(body), _completion(body))
        elif self.path.endswith("/responses"):
            self.server.refusals += broken_by_responses(list(_items(body)))
            self._answer(body, _response_events(body), _response(body))
        else:
            self.server.refusals += broken_by_anthropic(_system(body), list(map(_in_blocks, body["messages"])))
            self._answer(body, _events(body), _message(body))

    def _answer(self, body: Json, pieces: Iterator[str], whole: Json) -> None:
        if body.get("stream"):
            self._send(200, "text/event-stream", "".join(pieces))
        else:
            self._send(200, "application/json", json.dumps(whole))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def _words(body: Json) -> tuple[str, list[Json]]:
    """What the model says, and the calls that it makes: a name and arguments each."""
    *before, last = map(json.dumps, _said(body))
    if "degrees" in last:
        return WARMER, []
    if WEATHER in last and body.get("tools"):
        return "I look.", [{"name": "weather", "arguments": {"city": city}} for city in CITIES]
    if ASKED in last:
        return KNOWN if FACT in " ".join((*before, last)) else "I do not know.", []
    is_json = body.get("response_format") or body.get("text")
    return '{"noted": true}' if is_json else f"Noted, as message {len(_said(body))}.", []


def _said(body: Json) -> list[Json]:
    said = body.get("messages") or body["input"]
    return [{"role": "user", "content": said}] if isinstance(said, str) else said


def _identity(number: int, call: Json) -> str:
    return f"call_{number}_{call['arguments']['city']}"


def _completion(body: Json) -> Json:
    text, calls = _words(body)
    choices = []
    for number in range(body.get("n") or 1):
        message: Json = {"role": "assistant", "content": text if not number else f"{text} ({number})", "refusal": None}
        if calls:
            functions = [{"name": call["name"], "arguments": json.dumps(call["arguments"])} for call in calls]
            names = [_identity(len(body["messages"]), call) for call in calls]
            message["tool_calls"] = [
                {"id": name, "type": "function", "function": function} for name, function in zip(names, functions, strict=True)
            ]
        finish = "tool_calls" if calls else "stop"
        choices.append({"index": number, "message": message, "finish_reason": finish, "logprobs": None})
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def _chunks(body: Json) -> Iterator[str]:
    whole = _completion(body)
    for choice in whole["choices"]:
        message = choice["message"]
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += ({"content": word} for word in _pieces(message["content"]))
        for number, call in enumerate(message.get("tool_calls") or ()):
            deltas.append({"tool_calls": [{**call, "index": number, "function": {**call["function"], "arguments": ""}}]})
            pieces = _pieces(call["function"]["arguments"])
            deltas += ({"tool_calls": [{"index": number, "function": {"arguments": piece}}]} for piece in pieces)
        for delta, end in (*((delta, None) for delta in deltas), ({}, choice["finish_reason"])):
            part = {"index": choice["index"], "delta": delta, "finish_reason": end}
            yield _data({**whole, "object": "chat.completion.chunk", "choices": [part], "usage": None})
    yield _data({**whole, "object": "chat.completion.chunk", "choices": []})
    yield "data: [DONE]\n\n"


def _message(body: Json) -> Json:
    text, calls = _words(body)
    content: list[Json] = []
    if body.get("thinking"):
        content.append({"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"})
    content.append({"type": "text", "text": text})
    for call in calls:
        name = _identity(len(body["messages"]), call)
        content.append({"type": "tool_use", "id": name, "name": call["name"], "input": call["arguments"]})
    frame = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**frame, "content": content, "stop_reason": "tool_use" if calls else "end_turn", "usage": usage}


def _events(body: Json) -> Iterator[str]:
    whole = _message(body)
    yield _event({"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}})
    for number, block in enumerate(whole["content"]):
        kind = block["type"]
        empty = EMPTY[kind]
        yield _event({"type": "content_block_start", "index": number, "content_block": {**block, **empty}})
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block.get("text", ""))]
        if kind == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        if kind == "tool_use":
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(block["input"]))]
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": number, "delta": delta})
        yield _event({"type": "content_block_stop", "index": number})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}})
    yield _event({"type": "message_stop"})


def _items(body: Json) -> Iterator[Json]:
    """Those of the input that are neither thoughts nor what the API itself wrote, which has fields of its own."""
    for item in _said(body):
        if item.get("type", "message") == "message":
            content = item["content"]
            is_own = "id" in item and item["role"] == "assistant"
            yield {"type": "message", "role": item["role"], "content": content[0]["text"] if is_own else content}
        elif item["type"] != "reasoning":
            yield {name: value for name, value in item.items() if name not in {"id", "status"}}


def _response(body: Json) -> Json:
    text, calls = _words(body)
    part = {"type": "output_text", "text": text, "annotations": []}
    output: list[Json] = []
    if body.get("reasoning"):
        output.append({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Let me see."}]})
    output.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]})
    for call in calls:
        name, arguments = _identity(len(_said(body)), call), json.dumps(call["arguments"])
        fields = {"call_id": name, "name": call["name"], "arguments": arguments, "status": "completed"}
        output.append({"type": "function_call", "id": f"fc_{name}", **fields})
    frame = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tool_choice": "auto", "tools": []}
    return {**frame, "status": "completed", "parallel_tool_calls": True, "output": output}


def _response_events(body: Json) -> Iterator[str]:
    whole = _response(body)
    events: list[Json] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for number, item in enumerate(whole["output"]):
        empty = {**item, **UNSAID[item["type"]]}
        events.append({"type": "response.output_item.added", "output_index": number, "item": empty})
        events += ({**event, "output_index": number, "item_id": item["id"]} for event in _deltas(item))
        events.append({"type": "response.output_item.done", "output_index": number, "item": item})
    events.append({"type": "response.completed", "response": whole})
    yield from (_event({**event, "sequence_number": number}) for number, event in enumerate(events))


def _deltas(item: Json) -> Iterator[Json]:
    for place, part in enumerate(item.get("content") or ()):
        yield {"type": "response.content_part.added", "content_index": place, "part": {**part, "text": ""}}
        text: Json = {"content_index": place, "logprobs": []}
        yield from ({"type": "response.output_text.delta", **text, "delta": piece} for piece in _pieces(part["text"]))
        yield {"type": "response.output_text.done", **text, "text": part["text"]}
    pieces = _pieces(item.get("arguments") or "")
    yield from ({"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces)


def _pieces(text: str, size: int = 5) -> Iterator[str]:
    yield from (text[start : start + size] for start in range(0, len(text), size))


def _data(value: Json) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _event(value: Json) -> str:
    return f"event: {value['type']}\n{_data(value)}"


def _system(body: Json) -> list[Json]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def _in_blocks(message: Json) -> Json:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [block for block in blocks if block["type"] != "thinking"]}


@contextmanager
def vendor_server() -> Iterator[VendorServer]:
    """Runs while the block does."""
    server = VendorServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
