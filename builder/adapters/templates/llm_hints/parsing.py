"""`llm_hints` as JSON text → what they say, checked; every distinct text is read once."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from jinja2 import TemplateError

from builder.adapters.templates.folder import FAILURES, TemplateFailed
from builder.adapters.templates.llm_hints.paths import Path, parse_path
from builder.adapters.templates.llm_hints.rules import Rule, rule_of
from builder.adapters.templates.reasons import MAX_REASON_CHARS, compile_problem
from builder.domain.nearest import NAME_LIKENESS, advice, nearest
from builder.wire.json import parse

MAX_CHARS = 65_536
"""Of hints as text."""
MAX_TEMPLATES_CHARS = 32_768
"""Of all templates of one record, which take about 0.3 s to compile."""
MAX_RULES = 100
MAX_PATHS = 200
MAX_TEXTS = 256
"""Hints that are remembered."""
MODES = ("replace", "merge")
KEYS = frozenset({"include", "exclude", "transform", "mode", "comment", "description"})
"""Of hints; the last two are for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmHints:
    """What a record says about how it is shown, in the order in which it is done."""

    include: tuple[Path, ...]
    """What is kept of the body; empty = all."""
    exclude: tuple[Path, ...]
    transform: tuple[tuple[str, Rule], ...]
    """Key of the result and its rule, in the order of the keys."""
    mode: Literal["replace", "merge"]
    """Only the keys of `transform` remain, or they stand beside what is left of the body."""

    @property
    def is_empty(self) -> bool:
        """Whether they change nothing."""
        return not (self.include or self.exclude or self.transform)


def read_hints(text: str) -> LlmHints:
    """Raises `TemplateFailed` with the rule that is wrong and what to do."""
    hints = _read(text)
    if isinstance(hints, str):
        raise TemplateFailed(hints)
    return hints


def forget_hints() -> None:
    """Drop every text that is remembered: one of them may be that of an erased breadcrumb."""
    _read.cache_clear()


@lru_cache(MAX_TEXTS)
def _read(text: str) -> LlmHints | str:
    """The hints, or why they cannot be used."""
    if len(text) > MAX_CHARS:
        return f"they have more than {MAX_CHARS:,} characters; make them smaller"
    place = ""
    try:
        hints = parse(text)
        for key in sorted(hints.keys() - KEYS):  # a slip of the pen would show all that it should leave out
            if near := nearest(key, KEYS, NAME_LIKENESS):
                raise ValueError(f"there is no {key[:40]!r} in hints; write {near}")
        place = "mode"
        mode = _mode(hints)
        place = "include"
        include = _paths(hints.get("include"))
        place = "exclude"
        exclude = _paths(hints.get("exclude"))
        place = "transform"
        rules = []
        for key, spec in _transform(hints).items():
            place = f"transform.{key[:40]}"
            rules.append((key, rule_of(spec)))
    except FAILURES as error:
        problem, fix = compile_problem(error) if isinstance(error, TemplateError) else (str(error), "")
        line = f"line {lineno}: " if (lineno := getattr(error, "lineno", None)) else ""
        return f"{place}{': ' if place else ''}{line}{problem}{'; ' if fix else ''}{fix}"[:MAX_REASON_CHARS]
    return LlmHints(include=include, exclude=exclude, transform=tuple(rules), mode=mode)


def _mode(hints: Any) -> Any:
    mode = hints.get("mode") or "replace"
    if mode not in MODES:
        raise ValueError(f"{str(mode)[:40]!r} is no mode; {advice(str(mode), MODES)}")
    return mode


def _paths(value: Any) -> tuple[Path, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        raise ValueError('it is no list of paths; write ["name", "owner.*.id"]')
    if len(value) > MAX_PATHS:
        raise ValueError(f"it has more than {MAX_PATHS} paths; use a wildcard")
    return tuple(map(parse_path, value))


def _transform(hints: Any) -> dict[str, Any]:
    rules = hints.get("transform") or {}
    if not isinstance(rules, dict):
        raise ValueError("it is no object; write a key of the result and its rule")  # noqa: TRY004 - one family of reasons
    if len(rules) > MAX_RULES:
        raise ValueError(f"it has more than {MAX_RULES} rules; take some out")
    if sum(len(str(rule.get("template"))) for rule in rules.values() if isinstance(rule, dict)) > MAX_TEMPLATES_CHARS:
        raise ValueError(f"its templates have more than {MAX_TEMPLATES_CHARS:,} characters together; make them shorter")
    return dict(sorted(rules.items()))
