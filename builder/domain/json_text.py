"""JSON values as text: compact, canonical, or their shape alone."""

import json
import re
from typing import Any

_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")

_SHAPES = ((type(None), "null"), (bool, "a boolean"), (int | float, "a number"))


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
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """The canonical form of a JSON text."""
    return canonical(json.loads(text))
