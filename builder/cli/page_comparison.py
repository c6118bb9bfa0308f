"""A page beside the version before, for people: tokens of the sections, and the lines that differ."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from builder.cli.tables import fits, table

CONTEXT_LINES = 2
"""Equal lines around a difference."""
SIGNS = {"equal": "", "replace": "≠", "insert": "+", "delete": "-"}
"""Kind of a difference → its sign in front of the lines."""


def comparison_text(answer: dict[str, Any], *, is_other: bool) -> str:
    """The answer to `replay`. is_other: `after` was made with another profile or other files."""
    before, after = answer["before"], answer["after"]
    if not is_other and answer["is_same"]:
        return f"{answer['context']}: the same bytes as the published event, {answer['tokens']:,} tokens.\n"
    if before["content"] == after["content"]:
        return f"The page is the same, {after['token_count']:,} tokens; {_other_fields(before, after)}\n"
    return "".join(
        (
            _tokens(before, after),
            "\n",
            *_lines(before["content"], after["content"]),
            *(f"failed: {failure}\n" for failure in answer["failures"]),
        )
    )


def _tokens(before: dict[str, Any], after: dict[str, Any]) -> str:
    names = dict.fromkeys(section["name"] for event in (before, after) for section in event["sections"])
    rows = [(name, *_numbers(_of_section(before, name), _of_section(after, name))) for name in names]
    rows.append(("page", *_numbers(before["token_count"], after["token_count"])))
    return table(("tokens", "before", "after", "difference"), rows, frozenset({"before", "after", "difference"}))


def _of_section(event: dict[str, Any], name: str) -> int:
    return sum(section["tokens"] for section in event["sections"] if section["name"] == name)


def _numbers(before: int, after: int) -> tuple[str, str, str]:
    return f"{before:,}", f"{after:,}", f"{after - before:+,}" if after != before else "="


def _lines(before: str, after: str) -> Iterator[str]:
    """The lines that differ, with those around them: side by side, or in a narrow terminal below each other."""
    lines, others = before.splitlines(), after.splitlines()
    rows: list[tuple[str, str, str]] = []
    for group in SequenceMatcher(None, lines, others, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        rows += [("", "…", "…")] if rows else []
        for kind, start, end, other_start, other_end in group:
            pairs = zip_longest(lines[start:end], others[other_start:other_end], fillvalue="")
            rows += [(SIGNS[kind], one, other) for one, other in pairs]
    columns = ("", "before", "after")
    yield table(columns, rows, ruled=True) if fits(columns, rows) else "".join(map(_below_each_other, rows))


def _below_each_other(row: tuple[str, str, str]) -> str:
    sign, before, after = row
    lines = (("-", before), ("+", after)) if sign else ((" ", before),)
    return "".join(f"{mark} {line}\n" for mark, line in lines if line or not sign)


def _other_fields(before: dict[str, Any], after: dict[str, Any]) -> str:
    differing = [name for name in after if before.get(name) != after[name]]
    return f"the events differ in {', '.join(differing)}." if differing else "the events are the same too."
