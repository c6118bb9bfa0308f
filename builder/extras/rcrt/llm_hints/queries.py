"""JSONPath queries of `llm_hints`, metered."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from jsonpath import JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch, NodeList
from jsonpath.filter import BaseExpression, FilterQuery
from jsonpath.selectors import Filter
from typing_extensions import override

from builder.adapters.templates.sandbox.runtime import charge_for, step

MAX_QUERY_CHARS = 1_000
MAX_DEPTH = 64
"""No body is nested deeper."""


class MeteredMatch(JSONPathMatch):
    """A node that was visited."""

    __slots__ = ()

    def __init__(self, **fields: Any) -> None:
        """fields: those of `JSONPathMatch`."""
        super().__init__(**fields)
        step(len(self.path) + (len(self.obj) if isinstance(self.obj, dict | list) else 0))


class MeteredPath(JSONPath):
    """A query whose first match is a `MeteredMatch`."""

    @override
    def finditer(self, data: Any, *, filter_context: Mapping[str, Any] | None = None) -> Iterable[JSONPathMatch]:
        """The matches, lazily."""
        root = MeteredMatch(filter_context=filter_context or {}, obj=data, parent=None, path="$", parts=(), root=data)
        matches: Iterable[JSONPathMatch] = (root,)
        for segment in self.segments:
            matches = segment.resolve(matches)
        return matches


class MeteredEnvironment(JSONPathEnvironment):
    """RFC 9535 alone, metered."""

    max_recursion_depth = MAX_DEPTH + 1

    def __init__(self) -> None:
        super().__init__(strict=True, filter_caching=False)

    @override
    def setup_function_extensions(self) -> None:
        """Without `match` and `search`."""
        super().setup_function_extensions()
        for name in ("match", "search"):
            del self.function_extensions[name]

    @override
    def is_truthy(self, obj: object) -> bool:
        """Asked for each item that a filter reads."""
        step()
        return super().is_truthy(obj)

    @override
    def compare(self, first: object, operator: str, second: object) -> bool:
        """Charged for both sides."""
        step()
        charge_for(*(side.values() if isinstance(side, NodeList) else side for side in (first, second)))
        return super().compare(first, operator, second)


@lru_cache(1)
def _environment() -> MeteredEnvironment:
    return MeteredEnvironment()


class Extraction:
    """One query: `$` is the body."""

    __slots__ = ("_query",)

    def __init__(self, query: str) -> None:
        """Raises `ValueError` with what to do."""
        if len(query) > MAX_QUERY_CHARS:
            raise ValueError(f"the query has more than {MAX_QUERY_CHARS:,} characters; make it shorter")
        try:
            parsed = _environment().compile(query.strip())
        except (JSONPathError, ValueError, IndexError) as error:
            problem = " ".join(str(error.args[0] if error.args else "it cannot be read").split())  # str() looks up the place
            raise ValueError(f"{problem}; write JSONPath of RFC 9535, such as $.tools[*].name") from error
        if not isinstance(parsed, JSONPath):
            raise ValueError("it is more than one query; write a rule for each")  # noqa: TRY004 - one family of reasons
        self._query = _metered(parsed)

    def value(self, body: Any, _values: Mapping[str, Any] = MappingProxyType({})) -> Any:
        """None, one match's value, or a list. Raises `JSONPathError`, `LimitExceeded`."""
        matches = [match.obj for match in self._query.finditer(body)]
        charge_for(matches)
        return matches if len(matches) > 1 else (matches[0] if matches else None)


def _metered(path: JSONPath) -> MeteredPath:
    for segment in path.segments:
        for selector in segment.selectors:
            if isinstance(selector, Filter):
                _meter(selector.expression)
    return MeteredPath(env=path.env, segments=path.segments)


def _meter(expression: BaseExpression) -> None:
    if isinstance(expression, FilterQuery):
        expression.path = _metered(expression.path)
    for inner in expression.children():
        _meter(inner)
