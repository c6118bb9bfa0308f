"""What shadow profiles would have changed, as text for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from builder.cli.tables import table
from builder.wire.session_names import session_text

SUMMARY = {
    "contexts": "{contexts:,}",
    "identical": "{identical:,}",
    "no page": "{without_page:,}",
    "tokens of a page, mean": "{tokens_mean:,} → {shadow_tokens_mean:,}",
    "tokens saved in all": "{saved_tokens:,}",
    "equal lines, mean": "{equal_lines:.0%}",
    "breadcrumbs lost": "{lost:,}",
    "breadcrumbs gained": "{gained:,}",
    "breadcrumbs in another order": "{out_of_order:,}",
}
"""Head of a line → its format."""
ONE = ("trigger", "session", "shadow", "tokens", "equal", "lost", "gained", "reordered")
NUMBERS = frozenset(ONE[3:])
"""Columns of numbers."""
MOST_IDS = 40
"""Of each list of one difference."""


def report_text(report: Mapping[str, Any]) -> str:
    """A column a shadow, and a line for each of the contexts that differ most."""
    heads = tuple(f"{row['consumer']} → {row['shadow']}" for row in report["shadows"])
    rows = ((name, *(cell.format(**row) for row in report["shadows"])) for name, cell in SUMMARY.items())
    text = table(("", *heads), rows, frozenset(heads))
    for row in report["shadows"]:
        text += "".join(f"{row['shadow']} makes no page for {times:,}: {why}\n" for why, times in row["rejections"].items())
        if row["flags"]:
            text += f"{row['shadow']} has flags that its consumer has not: {', '.join(row['flags'])}\n"
    if report["most_different"]:
        text += "\ncontexts that differ most:\n" + table(ONE, map(_cells, report["most_different"]), NUMBERS)
    return text


def difference_text(each: Mapping[str, Any]) -> str:
    """One difference in full."""
    return "".join(f"{line}\n" for line in _lines(each))


def _lines(each: Mapping[str, Any]) -> Iterator[str]:
    page, other = each["page"], each["shadow_page"]
    yield f"trigger {each['trigger']} of session {session_text(each['session'])}, {each['at']}"
    yield f"{each['consumer']}: {_facts(page)}"
    if other is None:
        yield f"{each['shadow']}: no page: {each['rejection']}"
        return
    yield f"{each['shadow']}: {_facts(other)}"
    yield f"equal lines: {each['equal_lines']:.1%}" + (", the pages are identical" if each["is_identical"] else "")
    yield f"breadcrumbs on both pages: {each['both']:,}"
    for name, about in (("only_consumer", "lost"), ("only_shadow", "gained"), ("out_of_order", "in another order")):
        if each[name]:
            yield f"{about}: {_ids(each[name])}"
    yield from _side_by_side("section", page["sections"], other["sections"])
    yield from _side_by_side("left out", page["omissions"], other["omissions"])


def _facts(page: Mapping[str, Any]) -> str:
    flags = f", {', '.join(page['flags'])}" if page["flags"] else ""
    revisions = f"profile {page['profile']}, templates {page['templates']}"
    return f"{page['tokens']:,} of {page['budget']:,} tokens, {revisions}{flags}"


def _side_by_side(head: str, one: Mapping[str, int], other: Mapping[str, int]) -> Iterator[str]:
    names = tuple(dict.fromkeys((*one, *other)))
    if names:
        rows = [(name, f"{one.get(name, 0):,}", f"{other.get(name, 0):,}") for name in names]
        yield ""
        yield table((head, "consumer", "shadow"), rows, frozenset({"consumer", "shadow"})).removesuffix("\n")


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_IDS:,} more" if len(ids) > MOST_IDS else ""
    return " ".join(ids[:MOST_IDS]) + more


def _cells(each: Mapping[str, Any]) -> tuple[str, ...]:
    tokens = f"{each['shadow_page']['tokens']:,}" if each["shadow_page"] else "-"
    counts = [f"{len(each[name]):,}" for name in ("only_consumer", "only_shadow", "out_of_order")]
    names = [each["trigger"], session_text(each["session"]), each["shadow"]]
    return *names, f"{each['page']['tokens']:,} → {tokens}", f"{each['equal_lines']:.0%}", *counts
