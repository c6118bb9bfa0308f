"""Receipts and replays as text for people."""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Any

from builder.app.console import fits, table
from builder.domain.context import IRRELEVANT

EVIDENCE = ("p", "rank", "signals")
"""Probability, rank, strongest signals."""
MAX_SIGNALS = 3
MIN_POINTS = 0.05
NUMBERS = frozenset({"lines", "tokens", "p", "rank", "least", "most"})
CUT = frozenset({"signals", "begins with"})
"""Columns that a narrow terminal cuts."""
MAX_BEGINNING = 60
CONTEXT_LINES = 2
"""Equal lines around a difference."""
SIGNS = {"equal": "", "replace": "≠", "insert": "+", "delete": "-"}


def receipt_text(answer: dict[str, Any]) -> str:
    """The answer to `explain`."""
    receipt = answer["receipt"]
    absent = table(("not on the page", "tokens", "why", *EVIDENCE), map(_absent, receipt["absent"]), NUMBERS, CUT)
    pieces = (_head(answer), *_sections(answer), *_absences(absent, receipt), _budget(receipt["budget"]))
    return "\n\n".join(piece.rstrip("\n") for piece in pieces if piece) + "\n"


def comparison_text(answer: dict[str, Any], *, is_other: bool) -> str:
    """Answer to `replay`. is_other: with another profile or other files."""
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


def _head(answer: dict[str, Any]) -> str:
    question, state = answer["receipt"]["question"], answer["is_same"]
    published = {True: "the published page, byte for byte", False: "not the published page", None: "built again"}[state]
    where = f"for {answer['trigger']} in session {answer['session']}"
    lines = [f"Context {answer['context']} of {answer['consumer']} {where}: {answer['tokens']:,} tokens, {published}."]
    if answer["times"]:
        parts = (f"{part.replace('_', '-')} {milliseconds:,} ms" for part, milliseconds in answer["times"].items())
        lines.append(f"It took: {', '.join(parts)}.")
    if question["is_small_talk"]:
        lines.append("The message asks for nothing, so nothing was searched.")
    elif question["candidates"]:
        lines.append(_search(question))
    return "\n".join(lines)


def _search(question: dict[str, Any]) -> str:
    names = f", said by or naming {', '.join(question['names'])}" if question["names"] else ""
    without = "" if question["has_vector"] else " by words and fields alone, because no engine was there"
    passages = f"{question['candidates']:,} passage" + ("s" if question["candidates"] != 1 else "")
    limit = question.get("min_probability")
    bound = f" What has a probability below {limit:g} is not found." if limit else ""
    return (
        f"Searched for {question['text']!r}{names} in {passages}{without}. "
        f"Probability that none of them answers it: {question['unanswered']:.2f}.{bound}"
    )


def _sections(answer: dict[str, Any]) -> Iterator[str]:
    """A table for each section of the page."""
    page = answer["content"].split("\n")
    tokens = {row["name"]: row["tokens"] for row in answer["receipt"]["budget"]["sections"]}
    for name, group in groupby(answer["receipt"]["parts"], key=lambda part: str(part["section"])):
        parts = [part for part in group if part.get("source") or part["tokens"]]
        evidence = EVIDENCE if any(part.get("evidence") for part in parts) else ()
        columns = ("lines", "tokens", "from", "why", *evidence, "begins with")
        rows = [(*_part(part), *(_evidence(part) if evidence else ()), _beginning(page, part)) for part in parts]
        yield f"{name}: {tokens.get(name, 0):,} tokens\n" + table(columns, rows, NUMBERS, CUT)


def _absences(absent: str, receipt: dict[str, Any]) -> Iterator[str]:
    if not receipt["by_reason"]:
        yield "Nothing that the consumer may see is missing."
        return
    yield absent if receipt["absent"] else ""
    counts = "; ".join(f"{count:,} {reason}" for reason, count in receipt["by_reason"].items())
    note = " Not near enough is what is worth less than the profile's `worth` asks, or has no word of the question."
    yield f"Not on the page, all of them: {counts}.{note if IRRELEVANT in receipt['by_reason'] else ''}"


def _budget(budget: dict[str, Any]) -> str:
    shares = " No share acts, because the conversation is shown whole." if budget["is_whole"] else ""
    rows = (
        (row["name"], row["source"], row["section_class"], f"{row['tokens']:,}", f"{row['least']:,}", f"{row['most']:,}")
        for row in budget["sections"]
    )
    reserve = f", {budget['reserve']:,} in reserve" if budget["reserve"] else ""
    margin = f", a margin of {budget['margin']:.0%}" if budget["margin"] else ""
    sentence = f"Budget {budget['budget']:,}{reserve}{margin}: {budget['tokens']:,} used, {budget['unused']:,} left.{shares}"
    return table(("section", "source", "class", "tokens", "least", "most"), rows, NUMBERS) + f"\n{sentence}"


def _part(part: dict[str, Any]) -> tuple[str, ...]:
    reason = part["reason"] + (f"; {part['reduced']}" if part["reduced"] else "")
    lines = f"{part['first']}-{part['last']}" if part["first"] != part["last"] else str(part["first"] or "?")
    return lines, f"{part['tokens']:,}" if part["tokens"] else "", _name(part.get("source")), reason


def _beginning(page: list[str], part: dict[str, Any]) -> str:
    """Without list mark; "" = lines unknown."""
    return page[part["first"] - 1].lstrip(" -")[:MAX_BEGINNING] if part["first"] else ""


def _absent(absent: dict[str, Any]) -> tuple[str, ...]:
    return _name(absent["source"]), f"{absent['tokens']:,}", absent["reason"], *_evidence(absent)


def _name(source: dict[str, Any] | None) -> str:
    return f"{source['id']} v{source['version']} {source['speaker']}" if source else ""


def _evidence(row: dict[str, Any]) -> tuple[str, ...]:
    evidence = row.get("evidence")
    if not evidence:
        return "", "", ""
    return f"{evidence['probability']:.2g}", f"{evidence['rank']:,}", _points(evidence["signals"])


def _points(signals: Iterable[dict[str, Any]]) -> str:
    strongest = [signal for signal in signals if abs(signal["points"]) >= MIN_POINTS][:MAX_SIGNALS]
    return ", ".join(f"{signal['points']:+.1f} {signal['name']}" for signal in strongest)


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
    """With context: side by side, or below each other in a narrow terminal."""
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
