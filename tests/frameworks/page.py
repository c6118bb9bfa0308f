"""The page `frameworks.md`: what a model reads without us and with us, from the requests that it got."""

import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

from builder.adapters.tokens import load_counter
from tests.chat_endpoint import Chat
from tests.frameworks.talk import ASKED, TOLD

DOCS = Path(__file__).parents[2] / "builder" / "docs"
PAGE = DOCS / "frameworks.md"
SHELF = (
    "Shelf {0}.{1} holds {1} bowls. They were thrown by hand, dried for {0} days and fired twice; the second firing left a thin "
    "line at the foot of each bowl, so they are sold as seconds at half the price. "
)
SHELVES = [" ".join(SHELF.format(number, part) for part in range(9)).strip() for number in range(1, 15)]
LONG_TALK: Chat = [
    {"role": role, "content": text}
    for told in (TOLD, *SHELVES)
    for role, text in (("user", told), ("assistant", f"Noted: {told[:9]}."))
]
"""What the last question asks for is said first, and more follows than a page holds."""
BUDGET = 4000


def example(name: str) -> dict[str, Any]:
    """Names of an example of the page."""
    return runpy.run_path(str(DOCS / "examples" / name))


def check_docs(name: str, without: Chat, with_us: Chat) -> None:
    """The part of the page is made of these two requests; `UPDATE_DOCS=1` writes it."""
    assert tokens_of(with_us) <= BUDGET < tokens_of(LONG_TALK)
    size = f"{len(with_us)} messages of at most {BUDGET:,} tokens, with the one that is asked for"
    text = f"without us: {shown(without)}\n\nwith us: {size}. The first and the last:\n{ends_of(with_us)}"
    head, end = f"<!-- {name}: written by tests/frameworks, UPDATE_DOCS=1 -->", f"<!-- end of {name} -->"
    part = f"{head}\n\n```text\n{text}\n```\n\n{end}"
    page = PAGE.read_text("utf-8")
    filled = re.sub(f"{re.escape(head)}.*?{re.escape(end)}", lambda _: part, page, flags=re.DOTALL)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(filled, "utf-8")
    assert part in filled
    assert page == filled or os.environ.get("UPDATE_DOCS")


def shown(messages: Chat) -> str:
    """Its size, and whether what is asked for is in it."""
    assert json.dumps(messages).count(ASKED) == 1
    has = "with" if TOLD in json.dumps(messages) else "without"
    return f"{len(messages)} messages of {tokens_of(messages):,} tokens, {has} the one that is asked for"


def ends_of(messages: Chat) -> str:
    """The first message and the last one. Dates are those of the day of the test."""
    assert json.dumps(messages).count(ASKED) == json.dumps(messages).count(TOLD) == 1
    first, last = ([line for line in text_of(message).splitlines() if line] for message in (messages[0], messages[-1]))
    return re.sub(r"\[\d+ \w+ \d{4}\]", "[today]", "\n".join((*first, "…", *last)))


def tokens_of(messages: Chat) -> int:
    return sum(map(load_counter("o200k_base"), map(text_of, messages)))


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
