"""`llm_hints` of a record: checked once per text, applied to its body, written as its item."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from cachetools import FIFOCache
from jinja2 import TemplateError
from jsonpath import JSONPathError

from builder.adapters.templates.examples import text_within
from builder.adapters.templates.failures import MAX_REASON_CHARS, compile_problem, reason_of
from builder.adapters.templates.folder import BLAMELESS_CHARS, FAILURES, MAX_STRIKES, RenderedNothing, TemplateFailed
from builder.adapters.templates.hint_languages import Limit
from builder.adapters.templates.sandbox.json_text import readable
from builder.adapters.templates.sandbox.runtime import LimitExceeded, Limits, charge_for, metered
from builder.assemble.items.labels import tool_label
from builder.assemble.items.list_items import INSIDE, MARK, below, block, items, quote
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.json_values import depth, parse
from builder.domain.lint_finding import NAME_LIKENESS, advice, nearest
from builder.extras.rcrt.llm_hints.rules import (
    HintRule,
    LiteralRule,
    Path,
    TemplateRule,
    Written,
    excluded,
    included,
    parse_path,
    rule_of,
)
from builder.remember.decode import without_hints

log = logging.getLogger("builder.llm_hints")
MAX_CHARS = 65_536
MAX_TEMPLATES_CHARS = 32_768
"""They compile in about 0.3 s."""
MAX_RULES = 100
MAX_PATHS = 200
MAX_PARSED = 256
MODES = ("replace", "merge")
KEYS = frozenset({"include", "exclude", "transform", "mode", "comment", "description"})
"""The last two are for people."""
MAX_TEXTS = 1_024
CONVERSATION = frozenset({"user", "assistant", "system"})
"""Their speaker comes before the text."""
_OWN_ITEM = re.compile(f"(?<!{MARK})\n *- ")
_VALUE_FIRST = re.compile(rf"(?:\A|(?<!{MARK})\n- )[^\w{MARK}\n]*{MARK}")
_NAME = re.compile(r"(?:[.{]|\[\\?[\"'])(\w+)")
_OWN_LINE = re.compile(f"(?<=(?<!{MARK})\n)(?=[^\n])")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmHints:
    """Steps that show a record, in order."""

    include: tuple[Path, ...]
    """Empty = all."""
    exclude: tuple[Path, ...]
    transform: tuple[tuple[str, HintRule], ...]
    """Key of the result → rule, in order."""
    mode: Literal["replace", "merge"]
    """The keys of `transform` alone, or added to the body."""

    @property
    def is_empty(self) -> bool:
        """Whether they change nothing."""
        return not (self.include or self.exclude or self.transform)


def read_hints(text: str) -> LlmHints:
    """Raises `TemplateFailed` with rule and remedy."""
    hints = _read(text)
    if isinstance(hints, str):
        raise TemplateFailed(hints)
    return hints


class LlmHintRenderer:
    """Disables hints that exceed limits `MAX_STRIKES` times."""

    def __init__(self, limits: Limits) -> None:
        """limits: of each rendering."""
        self._limits = limits
        self._strikes: FIFOCache[str, int] = FIFOCache(MAX_TEXTS)

    def text(self, hints: str, breadcrumb: Breadcrumb, body: dict[str, Any], values: dict[str, Any], limit: Limit) -> str:
        """The item; "" = the hints change nothing. hints: JSON. limit: JSON → JSON of bounded size. Raises `TemplateFailed`."""
        rules = read_hints(hints)
        if rules.is_empty:
            return ""
        if self._strikes.get(hints, 0) >= MAX_STRIKES:
            raise TemplateFailed(f"they exceeded their limits {MAX_STRIKES} times and rest")
        value_chars = len(breadcrumb.body) + len(breadcrumb.text)
        try:
            with metered(self._limits, value_chars):
                part = without_hints(body)
                result = _applied(rules, part, breadcrumb.schema, values)
                text = _item(result, breadcrumb, values, limit)
                is_read = not {*_NAME.findall(hints)}.isdisjoint(_fields(part))
                if part and not is_read and _shows_nothing(rules, result, breadcrumb.schema, values):
                    raise RenderedNothing("they show nothing of the record; look for a misspelt field")
                return text
        except TemplateFailed as error:
            if isinstance(error.__cause__, LimitExceeded) and value_chars <= BLAMELESS_CHARS:
                self._strikes[hints] = self._strikes.get(hints, 0) + 1
            raise

    def forget(self) -> None:
        """Drop all hint texts of this process."""
        self._strikes.clear()
        _read.cache_clear()


@lru_cache(MAX_PARSED)
def _read(text: str) -> LlmHints | str:
    if len(text) > MAX_CHARS:
        return f"they have more than {MAX_CHARS:,} characters; make them smaller"
    step = ""
    try:
        hints = parse(text)
        for key in sorted(hints.keys() - KEYS):  # a slip of the pen would show all that it should leave out
            if near := nearest(key, KEYS, NAME_LIKENESS):
                raise ValueError(f"there is no {key[:40]!r} in hints; write {near}")
        step = "mode"
        mode = _mode(hints)
        step = "include"
        include = _paths(hints.get("include"))
        step = "exclude"
        exclude = _paths(hints.get("exclude"))
        step = "transform"
        rules = []
        for key, spec in _transform(hints).items():
            step = f"transform.{key[:40]}"
            if isinstance(spec, dict) and spec.get("type") == "jq":
                log.warning(
                    "llm_hints: %s is a jq query, which nothing runs; the other rules act; write extract or template", step
                )
            else:
                rules.append((key, rule_of(spec)))
    except FAILURES as error:
        problem, fix = compile_problem(error) if isinstance(error, TemplateError) else (str(error), "")
        line = f"line {lineno}: " if (lineno := getattr(error, "lineno", None)) else ""
        return f"{step}{': ' if step else ''}{line}{problem}{'; ' if fix else ''}{fix}"[:MAX_REASON_CHARS]
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


def _applied(hints: LlmHints, body: dict[str, Any], schema: str, values: dict[str, Any]) -> dict[str, Any]:
    step, template = "include", None
    try:
        part = included(body, hints.include) if hints.include else body
        step = "exclude"
        part = excluded(part, hints.exclude) if hints.exclude else part
        values = values if part is body else values | {"text": text_within(schema, part)}
        results = {}
        for key, rule in hints.transform:
            step, template = f"transform.{key[:40]}", rule if isinstance(rule, TemplateRule) else None
            results[key] = rule.value(part, values)
    except (*FAILURES, JSONPathError) as error:
        if template is not None:
            reason = reason_of(error, template.template, template.source)
        else:
            reason = str(error) if isinstance(error, LimitExceeded) else type(error).__name__
        raise TemplateFailed(f"{step}: {reason}") from error
    if not hints.transform:
        return part
    return part | results if hints.mode == "merge" else results


def _shows_nothing(hints: LlmHints, result: dict[str, Any], schema: str, values: dict[str, Any]) -> bool:
    try:
        same = _applied(hints, {}, schema, values | {"text": ""}) == result
        return same and not all(isinstance(rule, LiteralRule) for _, rule in hints.transform)
    except TemplateFailed:
        return False


def _fields(value: Any) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, dict) else (("", inner) for inner in value):
        yield from _fields(inner) if isinstance(inner, dict | list) else (key,)


def _item(result: dict[str, Any], breadcrumb: Breadcrumb, values: dict[str, Any], limit: Limit) -> str:
    visible = {key: value for key, value in result.items() if value not in (None, "", [], {})}
    single = next(iter(visible.values()), "") if len(result) == 1 else None
    text = _nested(single, limit) if isinstance(single, str) else _readable(limit(result), values)
    if not visible or not text.replace(MARK, "").strip():
        raise RenderedNothing("they render nothing")
    # Nothing comes before a rule's own words; a value that begins an item could pass for a speaker.
    label = _label(breadcrumb, values, has_own_words=isinstance(single, str) and not _VALUE_FIRST.search(text))
    if not label:
        return items(text if _OWN_ITEM.search(text) else _OWN_LINE.sub(INSIDE, text))
    plain = text.replace(MARK, "")
    body = block(plain) if breadcrumb.role in CONVERSATION else below(plain)
    return items(f"- {quote(label)}: {quote(body)}{values['repeats']}")


def _label(breadcrumb: Breadcrumb, values: dict[str, Any], *, has_own_words: bool) -> str:
    words, speaker = values["words"], values["speaker"]
    if breadcrumb.role in CONVERSATION:
        return str(speaker)
    if breadcrumb.role != "tool":
        return "" if has_own_words else tool_label(breadcrumb.schema)
    if values["answer"]:
        return str(words["failed" if breadcrumb.failed else "result"])
    return str(words["tool_failed" if breadcrumb.failed else "tool_answered"].format(tool=speaker))


def _readable(result: dict[str, Any], values: dict[str, Any]) -> str:
    plain = {key: value.replace(MARK, "") if isinstance(value, Written) else value for key, value in result.items()}
    for _ in range(depth(plain) + 1):  # each level is indented further
        charge_for(plain)
    return str(quote(readable(plain, values["words"])))


def _nested(text: str, limit: Limit) -> str:
    if not isinstance(text, Written):
        return str(quote(limit(text)))
    own = text.replace(f"{MARK}\n", "").count("\n")
    return str(limit(text.replace(f"{MARK}\n", f"{MARK}\n  ") if own else text))
