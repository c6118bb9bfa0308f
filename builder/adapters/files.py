"""Files of authors and operators: limited in size, and YAML without aliases."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding

Files = Mapping[str, str]
"""A folder of templates: path in it, with slashes → text."""
MAX_DIGITS = 30
"""The most digits of a whole number."""
NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
MAX_TREES = 4
"""Parsed texts that are remembered for their line numbers."""
MAX_FILE_BYTES = 131_072
"""The largest profile, preset, table of models or template."""
MISTAKES = (
    ("could not find expected ':'", "there is no colon after a setting; write `setting: value`"),
    ("mapping values are not allowed here", "a colon is where none can be; indent like the lines around, or quote the value"),
    ("expected <block end>", "its indentation fits no line above; indent it like its neighbours"),
    ("expected ',' or", "a bracket or a brace is not closed, or a comma is missing; add it"),
    ("did not find expected", "a bracket or a brace is not closed, or a comma is missing; add it"),
    ("expected the node content", "a value is missing between brackets, or a bracket is not closed; add it"),
    ("cannot start any token", "it begins with a tab or a sign that YAML keeps for itself; use blanks, or quote the value"),
    ("unexpected end of stream", "a quotation mark is not closed; close it"),
    ("could not determine a constructor", "it has a tag (!!…), and none is taken; write a plain value"),
    ("expected a mapping", "it is not made of settings; write `setting: value`"),
)
"""A message of the parser, and the remedy."""


class FaultyFiles(Misconfigured):
    """Files that cannot be used, with everything that is wrong with them."""

    def __init__(self, findings: Sequence[LintFinding]) -> None:
        """findings: at least one; the first is the message."""
        self.findings = tuple(findings)
        more = f" (and {len(findings) - 1} more: context-builder profiles lint)" if len(findings) > 1 else ""
        super().__init__(f"{findings[0]}{more}")


def faulty(file: str, message: str, line: int = 0) -> FaultyFiles:
    """One file with one problem. message: problem; remedy. line: from 1; 0 = the whole file."""
    problem, _, fix = message.partition("; ")
    return FaultyFiles([LintFinding(file=file, line=line, place="", problem=problem, fix=fix or "mend it")])


def read_source(file: Path) -> str:
    """Text without byte order mark. Raises `FaultyFiles`; never waits for a pipe."""
    try:
        if not file.is_file():
            raise faulty(str(file), "it is no regular file; write a file there, or take it away")
        with file.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise faulty(str(file), f"it has more than {MAX_FILE_BYTES:,} bytes; make it smaller")
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise faulty(str(file), f"it cannot be read: {error}; write it as UTF-8, readable for the service") from error


def read_files(folder: Path, patterns: Iterable[str]) -> dict[str, str]:
    """Path → text of matching files. Raises `FaultyFiles`."""
    files = (file for pattern in patterns for file in sorted(folder.glob(pattern)))
    return {file.relative_to(folder).as_posix(): read_source(file) for file in files}


def by_name(layers: Iterable[Files], kind: str, suffix: str) -> dict[str, str]:
    """Name → text of one kind of files; later layers win."""
    start = f"{kind}/"
    return {
        path.removeprefix(start).removesuffix(suffix): text
        for layer in layers
        for path, text in layer.items()
        if path.startswith(start) and path.endswith(suffix)
    }


class YamlMistake(yaml.YAMLError):
    """A text that is no YAML, in words for its author."""

    def __init__(self, problem: str, line: int) -> None:
        """line: from 1; 0 = unknown."""
        self.problem, self.line = problem, line
        super().__init__(f"line {line}: {problem}" if line else problem)


def parse_yaml(source: str) -> Any:
    """The value. Raises `YamlMistake` with the line, and `ValueError`."""
    try:
        return yaml.load(source, _Plain)  # noqa: S506 - a SafeLoader
    except RecursionError as error:
        raise YamlMistake("it is nested too deeply; write it flatter", 0) from error
    except yaml.MarkedYAMLError as error:
        raise YamlMistake(_problem(error), _line(error)) from error
    except yaml.reader.ReaderError as error:
        line = source.count("\n", 0, error.position) + 1
        raise YamlMistake("it has a control character; take it out", line) from error
    except yaml.YAMLError as error:
        raise YamlMistake(getattr(error, "problem", str(error)), getattr(error, "line", 0)) from error


def line_of(source: str, path: Sequence[str | int]) -> int:
    """Line of the deepest setting of this path, from 1; 0 = none. path: keys, indexes, or an item's `name`."""
    node, line = _composed(source), 0
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        node, line = child[0], child[1] + 1
    return line


class _Plain(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: yaml.AliasEvent = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"the alias *{alias.anchor} is not taken; write out what it stands for")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)] if isinstance(node, yaml.MappingNode) else []
        first = {key.value: key for key in reversed(keys)}
        for key in (key for key in keys if first[key.value] is not key):
            raise YamlMistake(f"{key.value[:MAX_DIGITS]!r} is there twice; take one out", key.start_mark.line + 1)
        return super().construct_mapping(node, deep)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        if node.tag in NUMBERS and (":" in node.value or len(node.value) > MAX_DIGITS):
            problem = f"{node.value[:MAX_DIGITS]} is no plain number; write one of few digits, or a text in quotes"
            raise YamlMistake(problem, node.start_mark.line + 1)
        return super().construct_scalar(node)


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or str(error.context)
    return next((words for part, words in MISTAKES if part in problem), f"it is no YAML: {problem}")


def _line(error: yaml.MarkedYAMLError) -> int:
    begin = error.context_mark if "expected ':'" in (error.problem or "") else None
    mark = begin or error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 0


@lru_cache(MAX_TREES)
def _composed(source: str) -> yaml.Node | None:
    try:
        tree: yaml.Node | None = yaml.compose(source, _Plain)
    except (yaml.YAMLError, RecursionError):
        return None
    return tree


def _child(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        pairs = ((value, key.start_mark.line) for key, value in node.value if key.value == str(step))
        return next(pairs, None)
    if not isinstance(node, yaml.SequenceNode):
        return None
    for number, item in enumerate(node.value):
        name = _child(item, "name")
        if str(number) == str(step) or (isinstance(step, str) and name is not None and name[0].value == step):
            return item, item.start_mark.line
    return None
