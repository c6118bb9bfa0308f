"""Filters of templates: a new one has a line in `OWN_FILTERS`."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from builder.adapters.templates.sandbox.json_text import arguments, inline, output, readable
from builder.assemble.items.labels import reserved_names, tool_label
from builder.assemble.items.list_items import below, block
from builder.domain.control_text import visible
from builder.domain.phrases import Phrases
from builder.language.sentences import CONTEXT_CHARS, sentences

_TAG = re.compile(r"<(?=\s*/|[A-Za-z_!?])")
_NO_TAG_NAME = re.compile(r"[^\w.-]|^(?=[^A-Za-z_])", re.ASCII)
STORED_DAY = "%d %B %Y"
"""Summaries are stored in English."""
_STORED_SPEAKER = re.compile(r'^(User|Assistant)(?=: | ")')
MAX_SENTENCE_CHARS = 4_096


def untagged(text: str) -> str:
    """It opens and closes no tag; "a < b" stays. What was broken up makes no control text anew: `<|</|>` had none."""
    return visible(_TAG.sub("&lt;", text))


def tag(name: Any) -> str:
    """A section's name as a tag's."""
    return _NO_TAG_NAME.sub("_", str(name))


def sentence(text: Any) -> str:
    """With its full stop."""
    plain = str(text)
    start, end = _first_sentence(plain)
    first = " ".join(plain[start:end].split())
    return f"{first}." if re.search(r"[\w)\]\"'»”]$", first) else first


def label(name: Any, words: Mapping[str, str]) -> str:
    """In one line; quoted unless plain."""
    return inline(name) and tool_label(inline(name), reserved_names(Phrases(words)))


def day(text: Any, words: Mapping[str, str]) -> str:
    """A day, "8 May 2023" as pages write days; other text unchanged. words: phrases by name."""
    try:
        return Phrases(words).day(datetime.strptime(str(text), STORED_DAY))  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return str(text)


def speakers(text: Any, words: Mapping[str, str], sources: Any = 1) -> str:
    """A summary's line with the page's names of speakers. sources: number of its messages."""
    names = {"User": words.get("user", "User"), "Assistant": words.get("assistant", "Assistant")}
    first, *more = str(text).split("\n")
    lines = [first, *more] if isinstance(sources, int) and sources > 1 else [first]
    return "\n".join((*(_STORED_SPEAKER.sub(lambda match: names[match[1]], line) for line in lines), *more[len(lines) - 1 :]))


def _first_sentence(text: str) -> tuple[int, int]:
    spans = sentences(text[:MAX_SENTENCE_CHARS])
    if len(text) <= MAX_SENTENCE_CHARS or (spans[1:] and spans[1][0] + CONTEXT_CHARS < MAX_SENTENCE_CHARS):
        return spans[0] if spans else (0, 0)
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end


def _with_words(function: Callable[..., str]) -> Callable[..., str]:
    """The filter, given the page's phrases after its value."""

    @pass_context
    def call(context: Context, value: Any, *more: Any) -> str:
        return function(value, context.get("words", {}), *more)

    return call


OWN_FILTERS: Mapping[str, Callable[..., Any]] = {
    "arguments": _with_words(arguments),
    "below": below,
    "block": block,
    "day": _with_words(day),
    "inline": inline,
    "label": _with_words(label),
    "output": _with_words(output),
    "readable": _with_words(readable),
    "sentence": sentence,
    "speakers": _with_words(speakers),
    "tag": tag,
}
