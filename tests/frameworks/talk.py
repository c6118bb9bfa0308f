"""The conversation that every framework has with its model, and what a page of it must be."""

import json
import re
from itertools import count
from typing import Any

from builder.client.sync import SyncClient
from tests.chat_endpoint import Chat, call, calling

TOLD = "The kiln is called K-4711."
WEATHER = "Where is it warmer, Oslo or Lima?"
ASKED = "Which kiln is it?"
ANSWER = "It is K-4711."
DATE = re.compile(r"\[\d+ \w+ \d{4}\]\n+")
DEGREES = {"Oslo": "10 degrees", "Lima": "19 degrees"}


class Model:
    """Calls a tool twice at once, hands over to another agent, and knows of the kiln only what it reads."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, messages: Chat) -> dict[str, Any]:
        last = messages[-1]
        asked = json.dumps(last["content"])
        if last["role"] == "user" and "warmer" in asked:
            return calling(*(call(f"call_{next(self._numbers)}", "weather", city=city) for city in DEGREES))
        if last["role"] == "user" and "refund" in asked:
            return calling(call(f"call_{next(self._numbers)}", "transfer_to_billing"))
        return {"role": "assistant", "content": self._said(asked, last["role"], json.dumps(messages[:-1]))}

    def _said(self, asked: str, role: str, before: str) -> str:
        if role == "tool":
            return "Lima is warmer." if "degrees" in asked else "The refund is on its way."
        if ASKED in asked:
            return ANSWER if "K-4711" in before else "I do not know."
        return "Noted."


def weather(city: str) -> str:
    """Temperature in a city."""
    return DEGREES[city]


def check_page(page: Chat, question: str) -> None:
    """The question is on it once, each call with its result right after it, and nothing is said twice."""
    said = [json.dumps(message["content"]) for message in page if message["role"] in {"user", "assistant"} and message["content"]]
    assert sum(question in text for text in said) == 1, page
    assert len(said) == len(set(said)), page
    calls = [call["id"] for message in page for call in message.get("tool_calls") or ()]
    assert [message["tool_call_id"] for message in page if message["role"] == "tool"] == calls, page


def words_of(content: Any) -> str:
    """What a message says, without the date that the service puts above it."""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return DATE.sub("", text)


def schemas(client: SyncClient, session: str) -> list[str]:
    """Short names of what is stored of a session."""
    return [record.schema.removesuffix(".v1") for record in client.history(session)]


TURN_WITH_TOOLS = ["user.message", "agent.response", "tool.response", "tool.response", "agent.response"]


def user(content: Any) -> Any:
    """A message in the vendors' forms."""
    return {"role": "user", "content": content}


def said(client: SyncClient, session: str) -> list[str]:
    """Texts of what the service has of a session."""
    return [record.text for record in client.history(session)]
