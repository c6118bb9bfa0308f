"""Catalogue files of phrases → phrases by name. A file a language: `phrases/<language>.yaml`."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from string import Formatter

from builder.domain.lint_finding import FaultyFiles, LintFinding
from builder.domain.nearest import nearest
from builder.domain.phrases import MONTHS
from builder.wire.files import YamlMistake, line_of, parse_yaml

ENGLISH = "en"
"""The language that has every phrase; another one has what it lacks from here."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""The name of a language's file: `de`, `pt-BR`."""

MAX_CATALOGUES = 32
"""Whose phrases are remembered: an edit of a hint changes none of them."""
FORMS = ("", ",")
"""How a field may be written: as it is, or with signs between thousands."""
Problem = tuple[str, str, str]
"""Name of the phrase, what is wrong, what to do."""


def parse_phrases(source: str, english: Mapping[str, str], file: str = f"phrases/{ENGLISH}.yaml") -> dict[str, str]:
    """Read a catalogue; each text once. english: the phrases that there are; empty for the bundled English file itself.

    Raises `FaultyFiles` for an entry that is no text, for an unknown name, for a field that the English phrase does not have,
    and for other than twelve months.
    """
    return dict(_phrases(source, tuple(english.items()), file))


@lru_cache(MAX_CATALOGUES)
def _phrases(source: str, english: tuple[tuple[str, str], ...], file: str) -> Mapping[str, str]:
    try:
        entries = parse_yaml(source) or {}
        phrases = {str(name): entries[name] for name in entries}
    except YamlMistake as error:
        problem, _, fix = error.problem.partition("; ")
        raise FaultyFiles((_finding(file, error.line, ("", problem, fix or "mend it")),)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise FaultyFiles((_finding(file, 0, ("", "it is no mapping", "write `name: text` in each line")),)) from error
    problems = [each for name, text in phrases.items() for each in _problems(name, text, dict(english))]
    if problems:
        raise FaultyFiles([_finding(file, line_of(source, (each[0],)), each) for each in problems])
    return phrases


def _finding(file: str, line: int, problem: Problem) -> LintFinding:
    name, words, fix = problem
    return LintFinding(file=file, line=line, place=f"phrase `{name}`" if name else "", problem=words, fix=fix)


def _problems(name: str, text: object, english: Mapping[str, str]) -> Iterator[Problem]:
    if english and name not in english:
        near = nearest(name, english)
        yield name, "no phrase has this name", f"write {near}" if near else "take a name of phrases/en.yaml"
    elif not isinstance(text, str) or len(text.splitlines()) > 1:
        yield name, f"{text!r:.80} is no text of one line", "write one line, in quotation marks"
    elif (names := _fields(text)) is None:
        yield name, "a brace is without its other half", "add it, or write {{ for a brace that is shown"
    elif shape := _shape(text):
        yield name, f"the field {shape} has a form of its own", "write the name alone, or {name:,} for a number"
    elif unknown := names - (_fields(english.get(name, text)) or set()):
        allowed = ", ".join(f"{{{each}}}" for each in sorted(_fields(english.get(name, text)) or set())) or "none"
        yield name, f"it has no field {{{min(unknown)}}}", f"allowed is {allowed}"
    elif name == "months" and len(months := text.split()) != MONTHS:
        yield name, f"it has {len(months)} words, not {MONTHS}", "write one word a month, January first"


def _shape(text: str) -> str:
    """The first field that is written otherwise than by its name: a width would fill a page."""
    fields = ((field, form or "", kind) for _, field, form, kind in Formatter().parse(text) if field is not None)
    return next(
        (f"{{{field}{'!' + kind if kind else ''}:{form[:20]}}}" for field, form, kind in fields if kind or form not in FORMS), ""
    )


def _fields(text: str) -> set[str] | None:
    """The names in braces; None when a brace is alone."""
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError:
        return None
