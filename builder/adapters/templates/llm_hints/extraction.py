"""JSONPath (RFC 9535) whose work is charged to the meter of a rendering; without regular expressions, which cannot be bounded.

The library python-jsonpath makes a match of every node that it visits, which is where a visit is charged: a node, its path, and
the children that a wildcard or `..` looks at. Comparisons are charged by what they compare.
"""

from functools import lru_cache
from typing import Any

from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch, NodeList
from typing_extensions import override

from builder.adapters.templates.sandbox.meter import charge_for, step

MAX_QUERY_CHARS = 1_000
MAX_DEPTH = 64
"""Of what `..` descends into: no body is nested deeper."""


class MeteredMatch(JSONPathMatch):
    """A node that was visited."""

    __slots__ = ()

    def __init__(self, **fields: Any) -> None:
        """fields: those of `JSONPathMatch`."""
        super().__init__(**fields)
        step(len(self.path) + (len(self.obj) if isinstance(self.obj, dict | list) else 0))


class MeteredEnvironment(JSONPathEnvironment):
    """RFC 9535 alone, metered."""

    match_class = MeteredMatch
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
            self._query: JSONPath | CompoundJSONPath = _environment().compile(query.strip())
        except JSONPathError as error:
            problem = " ".join(str(error).split("\n")[0].split())
            raise ValueError(f"{problem}; write JSONPath of RFC 9535, such as $.tools[*].name") from error

    def value(self, body: Any) -> Any:
        """None when nothing matches, the value of one match, the list of several. Raises `JSONPathError`, `LimitExceeded`."""
        matches = [match.obj for match in self._query.finditer(body)]
        charge_for(matches)
        return matches if len(matches) > 1 else (matches[0] if matches else None)
