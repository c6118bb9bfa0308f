"""JSON of any sender as values: read, bounded, walked."""

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

JsonObject = dict[str, Any]
"""An object of JSON, as it is read."""


def texts(value: Any) -> Iterator[str]:
    """Every text in order; keys of objects are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def depth(value: Any) -> int:
    """How deep lists and objects are nested in each other."""
    levels, level = 0, [value]
    while level := [outer for outer in level if isinstance(outer, dict | list | tuple)]:
        levels += 1
        level = [item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer)]
    return levels


def with_texts(value: Any, change: Callable[[str], str], key: Callable[[str], str] = str) -> Any:
    """The value with its texts changed, and its keys by `key`."""
    if isinstance(value, dict):
        return {key(name): with_texts(item, change, key) for name, item in value.items()}
    if isinstance(value, list):
        return [with_texts(item, change, key) for item in value]
    return change(value) if isinstance(value, str) else value


def parsed(text: Any, *, exact: bool = False) -> Any:
    """The value; a text that is a JSON object or list becomes it. exact: not where a number or a key would be lost."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text, parse_float=_same_number, object_pairs_hook=_all_keys) if exact else json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _same_number(digits: str) -> float:
    number = float(digits)
    if str(number) != digits:
        raise ValueError(f"{digits} would be {number}")
    return number


def _all_keys(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("two keys are the same")
    return value


MAX_DEPTH = 64
TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels; flatten it or send it as text"
_FIRST_HALF, _SECOND_HALF = re.compile("[\ud800-\udbff]$"), re.compile("[\udc00-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(value: Any) -> Any:
    """NUL and lone surrogates → U+FFFD. Raises ValueError beyond MAX_DEPTH.

    A character that two pieces of a text share is whole.
    """
    if depth(value) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    storable = partial(_UNSTORABLE.sub, "\ufffd")
    cleaned = with_texts(value, storable, storable)
    return cleaned if cleaned == value else with_texts(_with_whole_characters(value), storable, storable)


def _with_whole_characters(value: Any) -> Any:
    """A stream may cut a surrogate pair: its second half goes to the piece with the first."""
    if isinstance(value, dict):
        return {name: _with_whole_characters(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_with_whole_characters(item) for item in value]
    for number in range(len(items) - 1):
        one, other = _piece(items[number]), _piece(items[number + 1])
        if _FIRST_HALF.search(one) and _SECOND_HALF.match(other):
            whole = (one[-1] + other[0]).encode("utf-16", "surrogatepass").decode("utf-16")
            for place, text in ((number, one[:-1] + whole), (number + 1, other[1:])):
                items[place] = items[place] | {"text": text} if isinstance(items[place], dict) else text
    return items


def _piece(item: Any) -> str:
    text = item.get("text") if isinstance(item, dict) else item
    return text if isinstance(text, str) else ""


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"a number of {len(digits):,} characters is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_number)


def parse(data: bytes | str) -> Any:
    """JSON → value. Raises ValueError (not JSON, NaN, too deep, a huge integer)."""
    try:
        return _DECODER.decode(data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass"))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
