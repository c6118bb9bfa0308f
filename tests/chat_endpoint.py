"""A real HTTP server that speaks chat completions of OpenAI, keeps what it was sent, and refuses what OpenAI refuses."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.chat_rules import broken_by_openai

Chat = list[dict[str, Any]]
Model = Callable[[Chat], dict[str, Any]]
"""Messages → the assistant's message."""


class ChatEndpoint(ThreadingHTTPServer):
    """Answers with what the model says."""

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._model = model
        self.requests: list[Chat] = []
        self.refusals: list[str] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def reply(self, messages: Chat) -> dict[str, Any]:
        self.requests.append(messages)
        self.refusals += broken_by_openai(messages)
        return self._model(messages)


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, ChatEndpoint)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = self.server.reply(request["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        envelope = {"id": "1", "created": 1, "model": "m"}
        if request.get("stream"):
            chunks = [
                {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}], **envelope}
                for delta, end in ((_delta(message), None), ({}, finish))
            ]
            chunks.append({"object": "chat.completion.chunk", "choices": [], "usage": usage, **envelope})
            body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
        else:
            choice = {"index": 0, "message": message, "finish_reason": finish}
            body = json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage, **envelope}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def _delta(message: dict[str, Any]) -> dict[str, Any]:
    """All of the message as one piece of a stream."""
    calls = message.get("tool_calls")
    return message | ({"tool_calls": [{**each, "index": number} for number, each in enumerate(calls)]} if calls else {})


@contextmanager
def endpoint(model: Model) -> Iterator[ChatEndpoint]:
    with ChatEndpoint(model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def call(identity: str, name: str, /, **arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}
