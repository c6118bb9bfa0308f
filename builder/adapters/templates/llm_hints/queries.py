"""Queries of `llm_hints`: metered JSONPath, and jq in its own process."""

import contextlib
import json
import os
import re
import selectors
import subprocess
import sys
import weakref
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from time import monotonic
from types import MappingProxyType
from typing import Any

from jsonpath import JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch, NodeList
from jsonpath.filter import BaseExpression, FilterQuery
from jsonpath.selectors import Filter
from typing_extensions import override

from builder.adapters.templates.sandbox.runtime import charge_for, step
from builder.domain.errors import installation

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


CHILD = Path(__file__).with_name("jq_child.py")
MAX_JQ_CHARS = 2_000
CPU_SECONDS = 0.5
WALL_SECONDS = 10.0
"""The last resort: CPU_SECONDS may take long beside other work."""
MEMORY_BYTES = 256 * 2**20
MAX_ANSWER_BYTES = 2**20
NOT_INSTALLED = f"the package jq is not installed; {installation('jq')}, or use template or extract"
FORBIDDEN = frozenset(
    {
        *("import", "include", "input", "inputs", "input_filename", "input_line_number", "modulemeta", "get_search_list"),
        *("env", "$ENV", "$__prog_args", "halt", "halt_error", "debug", "stderr", "now", "localtime", "strflocaltime"),
    }
)
"""They reach beyond the body, or read clocks."""
_WORD = re.compile(r'(?<![.\w$"])\$?[A-Za-z_]\w*')
_TEXT_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\r\n]*')
_KNOWN_REASON = re.compile(
    r"Cannot (?:index|iterate over|use|check whether|determine)(?: (?:null|boolean|number|string|array|object)\b)?"
)


class JqFailed(ValueError):  # noqa: N818 - named after what happened
    """Also: it needed more than it may have."""


def check_query(query: str) -> None:
    """Raises `ValueError` unless it can run and is deterministic."""
    if find_spec("jq") is None:
        raise ValueError(NOT_INSTALLED)
    if len(query) > MAX_JQ_CHARS:
        raise ValueError(f"the query has more than {MAX_JQ_CHARS:,} characters; make it shorter")
    # Inside of a text nothing is a comment; where a text has code inside, "#" may be in either.
    code = query if "\\(" in query else _TEXT_OR_COMMENT.sub(lambda part: "" if part[0].startswith("#") else part[0], query)
    if words := sorted(FORBIDDEN.intersection(_WORD.findall(code))):
        field = words[0].strip("$")
        raise ValueError(f"{words[0]} is not for hints: a query sees the body alone; take it out (a field is .{field})")


class JqProcess:
    """The process; thread-safe."""

    def __init__(self, cpu: float = CPU_SECONDS, wall: float = WALL_SECONDS, memory: int = MEMORY_BYTES) -> None:
        """cpu, wall: seconds of a query. memory: bytes of the process."""
        self._cpu = cpu
        self._wall = wall
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def value(self, query: str, body: Any) -> tuple[Any, float]:
        """Value (None, one, or a list), seconds of processor time. Raises `JqFailed`."""
        line = json.dumps([query, body]).encode() + b"\n"
        with self._lock:
            answer = self._answer(line)
        if "values" not in answer:
            raise JqFailed(_reason(answer))
        values = answer["values"]
        return values if len(values) > 1 else (values[0] if values else None), answer["seconds"]

    def _answer(self, line: bytes) -> dict[str, Any]:
        process = self._process if self._process and self._process.poll() is None else self._start()
        try:
            answer: dict[str, Any] = json.loads(_exchange(process, line, self._wall))
        except (OSError, ValueError) as error:
            _end(process)
            limits = f"{self._cpu:g} s of processor time or {self._memory // 2**20} MiB"
            raise JqFailed(f"jq: the query needs more than {limits}; let it do less") from error
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        spec = find_spec("jq")
        if spec is None or spec.origin is None:
            raise JqFailed(NOT_INSTALLED)
        limits = (str(self._cpu), str(self._memory), str(MAX_ANSWER_BYTES))
        command = [sys.executable, "-I", str(CHILD), str(Path(spec.origin).parent), *limits]
        process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/", bufsize=0
        )
        weakref.finalize(self, _end, process)
        self._process = process
        return process


def _exchange(process: subprocess.Popen[bytes], line: bytes, seconds: float) -> bytes:
    if process.stdin is None or process.stdout is None:
        raise OSError("the process has no pipes")
    process.stdin.write(line)
    end, answer = monotonic() + seconds, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not answer.endswith(b"\n"):
            part = os.read(process.stdout.fileno(), 2**16) if selector.select(max(end - monotonic(), 0)) else b""
            if not part:
                raise OSError("the process did not answer")
            answer += part
    return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in filter(None, (process.stdin, process.stdout)):
        with contextlib.suppress(OSError):
            pipe.close()


def _reason(answer: dict[str, Any]) -> str:
    if "syntax" in answer:
        return f"jq: {' '.join(answer['syntax'].removeprefix('jq: error: ').split())[:120]}; mend the query"
    reason = _KNOWN_REASON.search(answer["failure"])
    return f"jq: {reason.group() if reason else 'the query failed on this body'}; check the fields that it takes"


@lru_cache(1)
def jq_process() -> JqProcess:
    """The one of this service."""
    return JqProcess()
