"""Copies of a text, and near copies with another meaning, for `bench repeats`."""

import re
from collections.abc import Iterator

_OPENINGS = (
    "",
    "Well, ",
    "Okay, ",
    "Like I said, ",
    "As I mentioned, ",
    "By the way, ",
    "Oh, ",
    "Hey, ",
    "Just to repeat: ",
    "Hmm, ",
)
_ENDINGS = ("", "!", "...", ", you know.", ", thanks!", ", please.", "!!", ", okay.", ".", " ")
_BE = re.compile(r"\b(is|are|was|were|will|can|should|has|have|do|did)\b")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]{3,}")


def copy_of(text: str, number: int) -> str:
    """The same words, with another opening and ending; every third begins with a small letter."""
    body = " ".join(text.split()).rstrip(".!… ")
    opening, ending = _OPENINGS[number % len(_OPENINGS)], _ENDINGS[3 * number % len(_ENDINGS)]
    if body.endswith("?"):
        ending = ""
    if number % 3 == 2 and not body[:2].isupper():  # noqa: PLR2004 - every third
        body = body[:1].lower() + body[1:]
    return f"{opening}{body}{ending}"


def opposites_of(text: str) -> Iterator[str]:
    """Nearly the same words with another meaning: negated, another number, two words exchanged, a question."""
    body = " ".join(text.split())
    if _BE.search(body):
        yield _BE.sub(r"\1 not", body, count=1)
    if number := _NUMBER.search(body):
        yield f"{body[: number.start()]}{int(number[0]) + 1}{body[number.end() :]}"
    words = list(_WORD.finditer(body))
    if len(words) > 1 and words[0][0].casefold() != words[-1][0].casefold():
        first, last = words[0], words[-1]
        yield f"{body[: first.start()]}{last[0]}{body[first.end() : last.start()]}{first[0]}{body[last.end() :]}"
    if body.endswith("."):
        yield f"{body[:-1]}?"
