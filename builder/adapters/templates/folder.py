"""Hints, pages and phrases of the templates folders, run in one immutable sandbox.

Message text is always a value, never template source.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from string import Formatter
from types import MappingProxyType
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError

from builder.adapters.files import FaultyFiles, Files, YamlMistake, by_name, faulty, line_of, parse_yaml
from builder.adapters.templates.failures import TemplateKind, compile_problem, reason_of
from builder.adapters.templates.sandbox.environment import compiled
from builder.adapters.templates.sandbox.runtime import LimitExceeded, Limits, metered, size
from builder.assemble.items.list_items import Rendered, items, unmarked
from builder.domain.control_text import visible
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding, nearest
from builder.domain.phrases import MONTHS, Phrases

log = logging.getLogger("builder.templates")

ENGLISH = "en"
FORMER_PHRASES = frozenset(
    {
        "message_between",
        "messages_between",
        "other_call",
        "other_calls",
        "tool_turn_left_out",
        "tool_turns_left_out",
    }
)
"""Phrases of former notes: files with them are read, with a warning."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""File name: `de`, `pt-BR`."""

MAX_CATALOGUES = 32
FORMS = ("", ",")
"""Plain, or with thousands separators."""
Problem = tuple[str, str, str]
"""Phrase, problem, remedy."""
GENERIC = "generic"
FAILURES = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    NameError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    AssertionError,
)
SUFFIX = ".md.j2"
YAML = ".yaml"
MAX_SOURCE_CHARS = 65_536
MAX_STRIKES = 8
"""Exceeded limits that disable a template until an edit."""
BLAMELESS_CHARS = 4_096
"""Above, an exceeded limit is the sender's fault."""
NO_LANGUAGES: Mapping[str, Mapping[str, str]] = MappingProxyType({})

NO_PHRASES = Phrases()
_CLOSING = re.compile(r"</\{\{")
_CLOCK = re.compile(r"(?:[^%]|%-?[HIM]|%p)+")
"""Hours, minutes and AM or PM, as `strftime` writes them."""


def parse_phrases(source: str, english: Mapping[str, str], file: str = f"phrases/{ENGLISH}.yaml") -> dict[str, str]:
    """Name → phrase.

    english: the known phrases; empty for the English file. Raises `FaultyFiles` for a wrong text, name, field or number of
    months.
    """
    return dict(_phrases(source, tuple(english.items()), file))


class TemplateFailed(Exception):  # noqa: N818 - named after what happened
    """Another template steps in; never leaves this package."""


class RenderedNothing(TemplateFailed):
    """It rendered white space."""


class TemplateSet:
    """Every hint and page template, compiled at start."""

    def __init__(
        self,
        hints: Mapping[str, str],
        pages: Mapping[str, str],
        languages: Mapping[str, Mapping[str, str]] = NO_LANGUAGES,
        limits: Limits | None = None,
    ) -> None:
        """hints, pages: name → source. languages: language → phrases. Raises `FaultyFiles` with file and line."""
        self.languages = {name: Phrases(phrases) for name, phrases in languages.items()}
        self.sources: Mapping[TemplateKind, Mapping[str, str]] = {"hints": hints, "pages": pages}
        self._compiled = _all_compiled(self.sources)
        self.revision = _revision(hints, pages, *(languages[name] for name in sorted(languages)))
        self.limits = limits or Limits()
        self._strikes: Counter[tuple[TemplateKind, str]] = Counter()
        self._tagged = frozenset(name for name, source in pages.items() if _CLOSING.search(source))
        if GENERIC not in hints:
            raise Misconfigured(f"hints/{GENERIC}{SUFFIX} is missing; unknown schemas need it, put it back")

    def phrases(self, language: str = ENGLISH) -> Phrases:
        """Empty for an unknown language."""
        return self.languages.get(language, NO_PHRASES)

    def hint(self, name: str, values: Mapping[str, Any], value_chars: int = 0) -> str:
        """value_chars: characters of the values. Raises `TemplateFailed`."""
        text = self._run("hints", name, values, value_chars)
        if not text.strip():
            raise RenderedNothing("it renders nothing")
        return text

    def hint_for(self, schema: str, own: str = "") -> str:
        """own: the consumer's choice; "" = none."""
        return next((name for name in (own, schema) if name in self._compiled["hints"]), GENERIC)

    def is_tagged(self, page: str) -> bool:
        """Whether sections are in tags, which no text may open or close."""
        return page in self._tagged

    def check_page(self, name: str) -> None:
        """Raises `Misconfigured` for an unknown one."""
        if name not in self._compiled["pages"]:
            raise Misconfigured(f"page {name!r} does not exist; known pages are {', '.join(sorted(self._compiled['pages']))}")

    def page(self, name: str, sections: tuple[Any, ...]) -> str:
        """Raises `Misconfigured` for an unknown page, `TemplateFailed`."""
        self.check_page(name)
        marked = [_marked(section) for section in sections]
        text = self._run("pages", name, {"sections": marked}, 2 * size(marked)).strip("\n")
        if sections and not text:
            raise RenderedNothing("it renders nothing")
        return text + "\n" if text else ""

    def _run(self, kind: TemplateKind, name: str, values: Mapping[str, Any], value_chars: int) -> str:
        if self._strikes[kind, name] >= MAX_STRIKES:
            raise TemplateFailed(f"it exceeded its limits {MAX_STRIKES} times and rests until it is edited")
        template = self._compiled[kind][name]
        try:
            with metered(self.limits, value_chars):
                text = "".join(template.root_render_func(template.new_context(dict(values))))
                return items(text) if kind == "hints" else unmarked(text)
        except FAILURES as error:
            self._strikes[kind, name] += isinstance(error, LimitExceeded) and value_chars <= BLAMELESS_CHARS
            raise TemplateFailed(reason_of(error, template, self.sources[kind][name])) from error


def templates_of(layers: tuple[Files, ...]) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, str]]]:
    """Hints, pages and phrases; later layers win. Raises `FaultyFiles`."""
    return by_name(layers, "hints", SUFFIX), by_name(layers, "pages", SUFFIX), languages_of(layers)


def languages_of(layers: tuple[Files, ...]) -> dict[str, dict[str, str]]:
    """Language → phrases by name; see `templates_of`."""
    own: dict[str, dict[str, str]] = {}
    for layer in layers:
        for name, text in sorted(by_name((layer,), "phrases", YAML).items(), key=lambda item: (item[0] != ENGLISH, item[0])):
            entries = parse_phrases(text, own.get(ENGLISH, {}), f"phrases/{name}{YAML}")
            own[name] = own.get(name, {}) | entries
    return {name: own.get(ENGLISH, {}) | entries for name, entries in own.items()}


@lru_cache(MAX_CATALOGUES)
def _phrases(source: str, english: tuple[tuple[str, str], ...], file: str) -> Mapping[str, str]:
    try:
        entries = parse_yaml(source) or {}
        phrases = {str(name): entries[name] for name in entries}
    except YamlMistake as error:
        raise faulty(file, error.problem, error.line) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise faulty(file, "it is no mapping; write `name: text` in each line") from error
    for name in sorted(FORMER_PHRASES & phrases.keys()):
        log.warning("%s: no page has the phrase `%s` any more; take it out", file, name)
        del phrases[name]
    problems = [each for name, text in phrases.items() for each in _problems(name, text, dict(english))]
    if problems:
        raise FaultyFiles([_finding(file, source, *each) for each in problems])
    return phrases


def _finding(file: str, source: str, name: str, problem: str, fix: str) -> LintFinding:
    return LintFinding(file=file, line=line_of(source, (name,)), place=f"phrase `{name}`", problem=problem, fix=fix)


def _problems(name: str, text: object, english: Mapping[str, str]) -> Iterator[Problem]:
    if english and name not in english:
        near = nearest(name, english)
        yield name, "no phrase has this name", f"write {near}" if near else "take a name of phrases/en.yaml"
    elif not isinstance(text, str) or len(text.splitlines()) > 1:
        yield name, f"{text!r:.80} is no text of one line", "write one line, in quotation marks"
    elif problem := _problem_of_fields(text, english.get(name, text)):
        yield name, *problem
    elif name == "months" and len(months := text.split()) != MONTHS:
        yield name, f"it has {len(months)} words, not {MONTHS}", "write one word a month, January first"
    elif name == "clock" and not _CLOCK.fullmatch(text):
        yield name, f"{text!r:.80} is no time of day", "write it with %H or %I, %M and %p, like %-I:%M %p for 2:30 PM"


def _problem_of_fields(text: str, english: str) -> tuple[str, str] | None:
    names, allowed = _fields(text), _fields(english) or set()
    if names is None:
        return "a brace is without its other half", "add it, or write {{ for a brace that is shown"
    if shape := _shape(text):
        return f"the field {shape} has a form of its own", "write the name alone, or {name:,} for a number"
    if unknown := names - allowed:
        listed = ", ".join(f"{{{each}}}" for each in sorted(allowed)) or "none"
        return f"it has no field {{{min(unknown)}}}", f"allowed is {listed}"
    return None


def _shape(text: str) -> str:
    fields = ((field, form or "", kind) for _, field, form, kind in Formatter().parse(text) if field is not None)
    return next(
        (f"{{{field}{'!' + kind if kind else ''}:{form[:20]}}}" for field, form, kind in fields if kind or form not in FORMS), ""
    )


def _fields(text: str) -> set[str] | None:
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError:
        return None


def _marked(section: Any) -> dict[str, Any]:
    groups = [
        {"date": visible(group.date), "fragments": [Rendered(text) for text in group.fragments]} for group in section.groups
    ]
    return {"name": visible(section.name), "title": visible(section.title), "note": visible(section.note), "groups": groups}


def _all_compiled(all_sources: Mapping[TemplateKind, Mapping[str, str]]) -> Mapping[TemplateKind, Mapping[str, Template]]:
    findings: list[LintFinding] = []
    templates: dict[TemplateKind, dict[str, Template]] = {}
    for kind, sources in all_sources.items():
        templates[kind] = {}
        for name, source in sources.items():
            template = _compile(f"{kind}/{name}{SUFFIX}", source)
            if isinstance(template, LintFinding):
                findings.append(template)
            else:
                templates[kind][name] = template
    if findings:
        raise FaultyFiles(findings)
    return templates


def _compile(file: str, source: str) -> Template | LintFinding:
    if len(source) > MAX_SOURCE_CHARS:
        return LintFinding(
            file=file, place="", problem=f"it has more than {MAX_SOURCE_CHARS:,} characters", fix="make it smaller"
        )
    try:
        return compiled(source)
    except FAILURES as error:
        problem, fix = compile_problem(error)
        line = error.lineno if isinstance(error, TemplateSyntaxError) else 0
        return LintFinding(file=file, line=line, place="", problem=problem, fix=fix)


def _revision(*sources: Mapping[str, str]) -> str:
    digest = blake2b(digest_size=4)
    for kind in sources:
        for name in sorted(kind):
            digest.update(f"{name}\0{kind[name]}\0".encode())
    return digest.hexdigest()
