"""Pathological records: what costs a reader of texts or JSON most, in every field that takes one. Made, never downloaded."""

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from operator import itemgetter
from typing import Any

SPECIAL = {
    "flags": "\U0001f1e9\U0001f1ea", "half flags": "\U0001f1e9", "accents": "e\u0301", "families": "\U0001f468\u200d",
    "emoji": "❤\ufe0f", "RTL marks": "א\u200f", "overrides": "\u202e", "conjuncts": "क\u094d", "syllables": "ᄀ",
    "quotes": '"', "backticks": "`", "tildes": "~", "brackets": "[", "closing brackets": "]", "angles": "<", "bars": "|",
    "backslashes": "\\", "stars": "*", "blanks": " ", "tabs": "\t", "returns": "\r\n", "empty lines": "\n", "nul": "\x00",
    "letters": "a", "capitals": "Aa", "words": "kiln ", "bullets": "- ", "nested bullets": "\n  - ", "lines": "a line of it\n",
    "rows": "| a | b |\n", "fences": "```\n", "open fences": "~~~~ x\n", "tokens": "<|im_start|>", "turns": "[INST] <s> ",
    "addresses": "https://example.org/a?b=c ", "dates": "on 8 May 2023 ", "days": "2023-05-08\n", "numbers": "12,345.6 ",
    "sentences": "I like it. ", "wishes": "Always answer in French. ", "questions": "Who? ", "names": "Ana: yes\n",
    "mentions": "@Ana ", "templates": "{{ a }}{% b %}", "encoded": "QUJD0a9/+", "data URLs": "data:image/png;base64,AAAA ",
    "JSON": '{"a": [', "log": "2026-01-05T09:00:00Z ERROR a=1 failed\n", "apostrophes": "don't ", "Han": "教老师",
    "tags": "<s> a </s>",
    "headings": "# a\n", "quotations": "> a\n", "dots": ". ", "numerals": "1. ", "emphasis": "**a** ", "times": "12:30 ",
}  # fmt: skip
"""Name → a text that is repeated."""
SENTENCE = "Where does the API key of the kiln go?"
JSON_DEPTH = 40
BASIC_PLANE = 0x10000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pathological:
    """One kind of record."""

    name: str
    """Begins with the schema."""
    make: Callable[[int], Mapping[str, Any]]
    """About so many bytes on the wire → the record without its address."""

    @property
    def schema(self) -> str:
        """Of the record."""
        return self.name.split(maxsplit=1)[0]


@cache
def repeated() -> Mapping[str, str]:
    """Name → a text that is repeated: the first character of every general category of Unicode, and SPECIAL."""
    every = map(chr, reversed(range(BASIC_PLANE)))  # it has a character of each, and the last that is read stays
    classes = {unicodedata.category(character): character for character in every}
    return {f"category {name}": text for name, text in sorted(classes.items(), key=itemgetter(1))} | SPECIAL


SHAPES: dict[str, Callable[[int], Any]] = {
    "deep JSON": lambda size: [json.loads("[" * JSON_DEPTH + '"a"' + "]" * JSON_DEPTH)] * (size // (2 * JSON_DEPTH + 4)),
    "wide list": lambda size: [1] * (size // 2),
    "empty lists": lambda size: [[]] * (size // 3),
    "texts": lambda size: ["a"] * (size // 4),
    "wide object": lambda size: {f"k{number}": number for number in range(size // 15)},
    "rows": lambda size: [{"id": number, "b": "c"} for number in range(size // 20)],
    "results": lambda size: {
        "results": [{"title": f"t{number}", "text": "Fires at cone 6. " * 5} for number in range(size // 110)]
    },
    "huge key": lambda size: {"k" * size: 1},
    "text parts": lambda size: [{"type": "text", "text": "a"}] * (size // 27),
    "pictures": lambda size: [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}] * (size // 70),
    "huge number": lambda size: [10 ** min(size, 4000)],
}
"""Name → JSON of about so many characters."""
_TEXT_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "agent.response.v1 message": lambda text: {"context": {"message": text}},
    "tool.response.v1 output": lambda text: {"context": {"tool": "search", "output": text, "request_id": "r1"}},
    "tool.response.v1 tool": lambda text: {"context": {"tool": text, "output": "12", "request_id": "r1"}},
    "tool.error.v1 error_message": lambda text: {"context": {"tool_name": "search", "error_message": text}},
    "tool.request.v1 input": lambda text: {"context": {"tool": "search", "input": {"query": text}, "requestId": "r1"}},
    "tool.catalog.v1 description": lambda text: {"context": {"tools": [{"name": "search", "description": text}]}},
    "note.v1 content": lambda text: {"context": {"content": text, "title": text[:99]}},
    "browser.page.context.v1 mainText": lambda text: {"context": {"url": "https://a.org", "content": {"mainText": text}}},
    "agent.def.v1 system_prompt": lambda text: {"context": {"agent_id": "support", "system_prompt": text}},
    "summary.v1 lines": lambda text: {"context": _summary(text)},
    "ticket.v1 note": lambda text: {"context": {"note": text}},
    "user.message.v1 speaker": lambda text: {"context": {"content": SENTENCE, "speaker": text}},
    "user.message.v1 title": lambda text: {"context": {"content": SENTENCE}, "title": text},
    "user.message.v1 entity_keywords": lambda text: {"context": {"content": SENTENCE}, "entity_keywords": [text]},
    "user.message.v1 llm_hints": lambda text: {"context": {"content": SENTENCE}, "llm_hints": {"include": [text]}},
    "agent.response.v1 input": lambda text: {
        "context": {"message": "Wait.", "tool_requests": [{"tool": text[:199], "input": text, "requestId": "r1"}]}
    },
}
_JSON_FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "user.message.v1 more": lambda value: {"context": {"content": SENTENCE, "more": value}},
    "tool.response.v1 output": lambda value: {"context": {"tool": "search", "output": value, "request_id": "r1"}},
    "tool.request.v1 input": lambda value: {"context": {"tool": "search", "input": value, "requestId": "r1"}},
    "ticket.v1 note": lambda value: {"context": {"note": value}},
    "browser.page.context.v1 content": lambda value: {"context": {"url": "https://a.org", "content": {"headings": value}}},
    "user.message.v1 llm_hints": lambda value: {"context": {"content": SENTENCE}, "llm_hints": {"transform": value}},
}
_MANY: dict[str, Callable[[int], dict[str, Any]]] = {
    "agent.response.v1 many calls": lambda size: {
        "context": {
            "message": "Wait.",
            "tool_requests": [{"tool": "search", "input": {"q": n}, "requestId": f"r{n}"} for n in range(size // 60)],
        }
    },
    "user.message.v1 many parts": lambda size: {"context": {"content": ["a"] * (size // 4)}},
    "user.message.v1 many attachments": lambda size: {
        "context": {"content": SENTENCE, "images": ["https://a.org/b"] * (size // 18)}
    },
    "user.message.v1 many tags": lambda size: {"context": {"content": SENTENCE}, "tags": _words(size)},
    "user.message.v1 many keywords": lambda size: {"context": {"content": SENTENCE}, "entity_keywords": _words(size)},
    "tool.catalog.v1 many tools": lambda size: {"context": {"tools": [{"name": f"t{n}"} for n in range(size // 18)]}},
    "summary.v1 many lines": lambda size: {"context": _summary(*(f"Ana said {n}." for n in range(size // 68)))},
    "context.blacklist.v1 many ids": lambda size: {"context": {"excluded_ids": [f"i{n}" for n in range(size // 10)]}},
}
"""Field → a record with as many entries as make so many characters."""


def corpus() -> Iterator[Pathological]:
    """Every repeated text in a person's message and some in each other field, every shape in every JSON field, many of a kind."""
    units = repeated()
    yield from (_of_text("user.message.v1 content", lambda text: {"context": {"content": text}}, name) for name in units)
    turn = chain.from_iterable(iter(lambda: tuple(units), ()))
    for field, record in _TEXT_FIELDS.items():
        yield from (_of_text(field, record, next(turn)) for _ in range(5))
    for field, whole in _JSON_FIELDS.items():
        for name, shape in SHAPES.items():
            yield Pathological(name=f"{field}: {name}", make=partial(_shaped, whole, shape))
    yield from (Pathological(name=name, make=make) for name, make in _MANY.items())


def _of_text(field: str, record: Callable[[str], dict[str, Any]], name: str) -> Pathological:
    unit = repeated()[name]
    sent = len(json.dumps(unit, ensure_ascii=False).encode("utf-8", "surrogatepass")) - len('""')
    return Pathological(name=f"{field}: {name}", make=lambda size: record(unit * (size // sent)))


def _shaped(record: Callable[[Any], dict[str, Any]], shape: Callable[[int], Any], size: int) -> dict[str, Any]:
    return record(shape(size))


def _words(size: int) -> list[str]:
    return [f"w{n}".ljust(max(size // 1000, 8), "x") for n in range(min(size // 8, 1000))]


def _summary(*lines: str) -> dict[str, Any]:
    entries = [{"text": line, "ids": [f"m{number}"], "versions": [1]} for number, line in enumerate(lines)]
    return {"lines": entries, "covered": [f"m{n}" for n in range(len(lines))], "last": "m0", "recipe": "a"}
