"""A receipt as tables for people."""

from collections.abc import Iterable, Iterator
from typing import Any

from builder.cli.tables import table

MAX_SIGNALS = 3
"""Signals of a find in its row, those with the most points."""
MIN_POINTS = 0.05
"""Below which a signal decides nothing."""
NUMBERS = frozenset({"lines", "tokens", "p", "rank", "least", "most"})
"""Columns of numbers."""


def receipt_text(answer: dict[str, Any]) -> str:
    """The answer to `explain`."""
    receipt = answer["receipt"]
    parts = table(("lines", "tokens", "section", "from", "why", "p", "rank", "points"), map(_part, receipt["parts"]), NUMBERS)
    absent = table(("not on the page", "tokens", "why", "p", "rank", "points"), map(_absent, receipt["absent"]), NUMBERS)
    pieces = (_head(answer), parts, *_absences(absent, receipt), _budget(receipt["budget"]))
    return "\n".join(piece.rstrip("\n") for piece in pieces if piece) + "\n"


def _head(answer: dict[str, Any]) -> str:
    question, state = answer["receipt"]["question"], answer["is_same"]
    published = {True: "the published page, byte for byte", False: "not the published page", None: "built again"}[state]
    where = f"for {answer['trigger']} in session {answer['session']}"
    lines = [f"Context {answer['context']} of {answer['consumer']} {where}: {answer['tokens']:,} tokens, {published}."]
    if question["is_small_talk"]:
        lines.append("The message asks for nothing, so nothing was searched.")
    elif question["candidates"]:
        limit = question.get("min_probability")
        bound = f"; below {limit:g} nothing is found" if limit is not None else ""
        without = "" if question["has_vector"] else " by words and fields alone, because no engine was there,"
        lines.append(
            f"Searched{without} for {question['text']!r} in {question['candidates']:,} passages; that none answers it has the "
            f"probability {question['unanswered']:.2f}{bound}."
        )
    return "\n".join(lines)


def _absences(absent: str, receipt: dict[str, Any]) -> Iterator[str]:
    if not receipt["by_reason"]:
        yield "Nothing that the consumer may see is missing."
        return
    yield absent if receipt["absent"] else ""
    counts = "; ".join(f"{count:,} {reason}" for reason, count in receipt["by_reason"].items())
    yield f"Not on the page, all of them: {counts}."


def _budget(budget: dict[str, Any]) -> str:
    shares = "No share acts, because the conversation is shown whole." if budget["is_whole"] else ""
    rows = (
        (row["name"], row["source"], row["section_class"], f"{row['tokens']:,}", f"{row['least']:,}", f"{row['most']:,}")
        for row in budget["sections"]
    )
    reserve = f", {budget['reserve']:,} in reserve" if budget["reserve"] else ""
    margin = f", a margin of {budget['margin']:.0%}" if budget["margin"] else ""
    aim = f", aimed at {budget['aim']:,}" if budget["aim"] != budget["allowance"] else ""
    sentence = (
        f"Budget {budget['budget']:,}{reserve}{margin}{aim}: {budget['tokens']:,} used, {budget['unused']:,} left. {shares}"
    )
    return table(("section", "source", "class", "tokens", "least", "most"), rows, NUMBERS) + sentence


def _part(part: dict[str, Any]) -> tuple[str, ...]:
    source = part.get("source")
    reason = part["reason"] + (f"; {part['reduced']}" if part["reduced"] else "")
    lines = f"{part['first']}-{part['last']}" if part["first"] != part["last"] else str(part["first"] or "?")
    return (lines, f"{part['tokens']:,}" if part["tokens"] else "", part["section"], _name(source), reason, *_evidence(part))


def _absent(absent: dict[str, Any]) -> tuple[str, ...]:
    return _name(absent["source"]), f"{absent['tokens']:,}", absent["reason"], *_evidence(absent)


def _name(source: dict[str, Any] | None) -> str:
    return f"{source['id']} v{source['version']} {source['speaker']}" if source else ""


def _evidence(row: dict[str, Any]) -> tuple[str, str, str]:
    evidence = row.get("evidence")
    if not evidence:
        return "", "", ""
    return f"{evidence['probability']:.2g}", f"{evidence['rank']:,}", _points(evidence["signals"])


def _points(signals: Iterable[dict[str, Any]]) -> str:
    strongest = [signal for signal in signals if abs(signal["points"]) >= MIN_POINTS][:MAX_SIGNALS]
    return ", ".join(f"{signal['name']} {signal['points']:+.1f}" for signal in strongest)
