"""A receipt as people read it in a terminal."""

import os
from pathlib import Path
from typing import Any

import pytest

from builder.domain.context import IRRELEVANT
from builder.extras.explain.reports import receipt_text

GOLDEN = Path(__file__).with_name("receipt.txt")
IDENTITY = "1006248e-34d7-4a8d-9da6-7f0e55fb1c4e"
PAGE = """## Recent Conversation
- Anna: The blue kiln is broken.

## Relevant Earlier Messages
[8 May 2026]
- Anna: The blue kiln costs 40 euros a firing.
- Assistant: Noted: 40 euros.

## Current User Message
- Anna: What does it cost?"""


def source(identity: str, speaker: str = "Anna") -> dict[str, Any]:
    return {"id": identity, "version": 1, "schema": "user.message.v1", "session": "s1", "speaker": speaker}


def part(line: int, section: str, reason: str, identity: str = "", **more: Any) -> dict[str, Any]:
    own = {"source": source(identity), "tokens": 9} if identity else {"tokens": 0}
    return {"first": line, "last": line, "section": section, "reason": reason, "reduced": ""} | own | more


def evidence(probability: float, rank: int) -> dict[str, Any]:
    signals = [{"name": "window_similarity", "value": 0.5, "points": 1.95}, {"name": "speaker", "value": 0.0, "points": -1.4}]
    return {"probability": probability, "rank": rank, "candidates": 2, "signals": signals}


ANSWER: dict[str, Any] = {
    "context": "c7",
    "consumer": "default",
    "trigger": IDENTITY,
    "session": "s1",
    "tokens": 60,
    "is_same": True,
    "content": PAGE,
    "times": {},
    "receipt": {
        "question": {
            "text": "What does it cost?", "names": ["Anna"], "is_small_talk": False, "has_vector": True, "candidates": 2,
            "unanswered": 0.25, "min_probability": 0.0004,
        },
        "parts": [
            part(1, "recent", "heading, date or note of the service"),
            part(2, "recent", "the newest part of the conversation", "m9"),
            part(4, "relevant", "heading, date or note of the service"),
            part(5, "relevant", "heading, date or note of the service"),
            part(6, "relevant", "found", "m1", evidence=evidence(0.44, 1)),
            part(7, "relevant", "what was said in reply to m1, which was found", "m2", evidence=evidence(0.067, 2)),
            part(9, "current", "heading, date or note of the service"),
            part(10, "current", "the message to answer", IDENTITY),
        ],
        "absent": [{"source": source("m3"), "reason": "over budget", "tokens": 41, "evidence": evidence(0.0011, 3)}],
        "by_reason": {"over budget": 1},
        "budget": {
            "budget": 100, "reserve": 0, "margin": 0, "allowance": 100, "tokens": 60, "unused": 40, "is_whole": False,
            "sections": [
                {"name": name, "source": filled, "section_class": "turn", "tokens": 20, "least": 0, "most": 100}
                for name, filled in (("recent", "window"), ("relevant", "retrieval"), ("current", "trigger"))
            ],
        },
    },
}  # fmt: skip


def test_a_receipt_is_as_the_golden_file_has_it_in_a_narrow_and_in_a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """UPDATE_GOLDEN=1 writes it."""
    texts = []
    for columns in ("80", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        texts.append(receipt_text(ANSWER))
    text = "\n---\n".join(texts)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_a_receipt_of_a_degraded_context_says_that_words_alone_were_compared() -> None:
    question = ANSWER["receipt"]["question"] | {"has_vector": False, "names": [], "candidates": 1, "min_probability": None}
    receipt = ANSWER["receipt"] | {"question": question}
    search = receipt_text(ANSWER | {"receipt": receipt}).splitlines()[1]
    assert search == (
        "Searched for 'What does it cost?' in 1 passage by words and fields alone, because no engine was there. "
        "Probability that none of them answers it: 0.25."
    )


def test_a_receipt_says_how_long_each_part_of_the_delivery_took() -> None:
    times = {"wait": 1200, "catch_up": 3, "embedding": 7, "recall": 2, "page": 9}
    assert "It took: wait 1,200 ms, catch-up 3 ms, embedding 7 ms, recall 2 ms, page 9 ms." in receipt_text(
        ANSWER | {"times": times}
    )


def test_a_receipt_says_what_is_not_near_enough() -> None:
    text = receipt_text(ANSWER | {"receipt": ANSWER["receipt"] | {"by_reason": {IRRELEVANT: 1}}})
    assert "What has a probability below 0.0004 is not found.\n" in text
    assert (
        "all of them: 1 not near enough to the question. Not near enough is what is worth less than the profile's `worth`" in text
    )
