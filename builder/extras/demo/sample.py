"""The sample: the events of a conversation, and questions with the messages that answer them."""

import json
from importlib.resources import files
from typing import Any


def sample_lines() -> tuple[str, ...]:
    """The bundled sample conversation, one event a line."""
    return tuple(_text("events.jsonl").strip().split("\n"))


def sample_questions() -> dict[str, Any]:
    """`name`; `questions`: as a data set has them (builder/docs/benchmarks.md); `demo`: ids that answer the last message."""
    questions: dict[str, Any] = json.loads(_text("questions.json"))
    return questions


def _text(file: str) -> str:
    return (files("builder.extras.demo") / file).read_text("utf-8")
