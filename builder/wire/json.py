"""JSON of any sender, without what UTF-8 or PostgreSQL refuse; and a canonical form."""

import json
import math
import re
from typing import Any

from builder.domain.text import depth, with_texts

MAX_DEPTH = 64
"""Deepest nesting of a body."""
TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels; flatten it or send it as text"

_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_SHAPES = ((type(None), "null"), (bool, "a boolean"), (int | float, "a number"))


def clean(value: Any) -> Any:
    """NUL and lone surrogates → U+FFFD. Raises ValueError beyond MAX_DEPTH."""
    if depth(value) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    return with_texts(value, _storable, _storable)


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def one_line(value: Any) -> str:
    """Compact JSON in one line for every reader, `str.splitlines` included."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LINE_ENDS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def shape(value: Any) -> str:
    """Kind and size of a JSON value, for logs without users' words."""
    if isinstance(value, str):
        return f"a text of {len(value):,} characters"
    if isinstance(value, list | tuple | dict):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    return next((name for kind, name in _SHAPES if isinstance(value, kind)), f"a {type(value).__name__}")


def canonical(value: Any) -> str:
    """JSON text with sorted keys and no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """The canonical form of a JSON text."""
    return canonical(json.loads(text))


def parse(data: bytes | str) -> Any:
    """JSON → value. Raises ValueError (not JSON, NaN, too deep, a huge integer)."""

    def refuse(word: str) -> float:
        raise ValueError(f"{word} is not a JSON number")

    def number(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            raise ValueError(f"a number of {len(digits):,} characters is too large")
        return value

    try:
        return json.loads(data, parse_constant=refuse, parse_float=number)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
