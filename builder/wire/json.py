"""JSON as it may come, lone surrogates, NUL and nesting included, and in one canonical form for comparing."""

import json
import math
import re
from typing import Any

from builder.domain.text import depth, with_texts

MAX_DEPTH = 64
"""Deepest nesting of a body; JSON of people and tools stays below ten."""
TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels; flatten it or send it as text"

_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What JSON has as it is, and some readers of lines take for the end of one."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_SHAPES = ((type(None), "null"), (bool, "a boolean"), (int | float, "a number"))


def clean(value: Any) -> Any:
    """The JSON value with NUL and lone surrogates as U+FFFD: PostgreSQL refuses the one, UTF-8 the other.

    Raises ValueError on nesting deeper than MAX_DEPTH.
    """
    if depth(value) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    return with_texts(value, _storable, _storable)


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def one_line(value: Any) -> str:
    """Compact JSON text, keys in their own order, that is one line for every reader, that of Python's `str.splitlines` too."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LINE_ENDS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def shape(value: Any) -> str:
    """What kind of JSON value it is, without the value: logs and dead letters hold no words of people."""
    if isinstance(value, str):
        return f"a text of {len(value):,} characters"
    if isinstance(value, list | tuple | dict):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    return next((name for kind, name in _SHAPES if isinstance(value, kind)), f"a {type(value).__name__}")


def canonical(value: Any) -> str:
    """JSON text with sorted keys and no spaces, for comparing: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """The canonical form of a JSON text whose keys are in the order of their sender."""
    return canonical(json.loads(text))


def parse(data: bytes | str) -> Any:
    """JSON → value. Raises ValueError (not JSON, NaN, too deep, an integer with thousands of digits)."""

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
