"""What a model thought, in the vendors' parts."""

from typing import Any

from builder.wire.attachments import attachment_line
from builder.wire.parts import Mark, Thought
from builder.wire.tool_parts import Fields, Parts, first_of


def thought(part: Fields) -> Parts | None:
    """Its words; a mark where only the vendor can read them."""
    source = first_of(part, ("thinking", "reasoning", "text", "reasoningText", "content", "summary"))
    words = [_words_of_thought(source)]
    if part.get("content") and part.get("summary"):
        words.append(_words_of_thought(part["summary"]))
    return (Thought("\n".join(filter(None, words))),) if any(words) else (Mark(attachment_line(part)),)


def _words_of_thought(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _words_of_thought(first_of(value, ("text", "thinking", "reasoning", "summary")))
    return "\n".join(filter(None, map(_words_of_thought, value))) if isinstance(value, list) else ""


def reasoning_content(part: Fields) -> Parts | None:
    """A thought of Bedrock."""
    return thought(part["reasoningContent"]) if isinstance(part["reasoningContent"], dict) else None
