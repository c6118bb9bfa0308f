"""What shadow profiles would have changed, as text for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SUMMARY = {
    "consumer": "{consumer}",
    "shadow": "{shadow}",
    "contexts": "{contexts:,}",
    "identical": "{identical:,}",
    "no page": "{without_page:,}",
    "tokens": "{tokens_mean:,} → {shadow_tokens_mean:,}",
    "saved in all": "{saved_tokens:,}",
    "equal lines": "{equal_lines:.0%}",
    "lost": "{lost:,}",
    "gained": "{gained:,}",
    "reordered": "{out_of_order:,}",
    "ms": "{build_ms:.1f} → {shadow_build_ms:.1f}",
}
"""Head of a column → what stands in it."""
ONE = ("trigger", "session", "shadow", "tokens", "of shadow", "equal lines", "lost", "gained", "reordered")
MOST_IDS = 40
"""Of each list of one difference."""


def report_text(report: Mapping[str, Any]) -> str:
    """A line a shadow, and a line for each of the contexts that differ most."""
    text = _table(tuple(SUMMARY), [[cell.format(**row) for cell in SUMMARY.values()] for row in report["shadows"]])
    for row in report["shadows"]:
        if row["flags"]:
            text += f"{row['shadow']} has flags that its consumer has not: {', '.join(row['flags'])}\n"
    if report["most_different"]:
        text += "\ncontexts that differ most:\n" + _table(ONE, [_cells(each) for each in report["most_different"]])
    return text


def difference_text(each: Mapping[str, Any]) -> str:
    """One difference in full."""
    return "".join(f"{line}\n" for line in _lines(each))


def _lines(each: Mapping[str, Any]) -> Iterator[str]:
    page, other = each["page"], each["shadow_page"]
    yield f"trigger {each['trigger']} of session {each['session']}, {each['at']}"
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
    return f"{page['tokens']:,} of {page['budget']:,} tokens, {page['build_ms']:.1f} ms, {revisions}{flags}"


def _side_by_side(head: str, one: Mapping[str, int], other: Mapping[str, int]) -> Iterator[str]:
    names = tuple(dict.fromkeys((*one, *other)))
    if names:
        rows = [[name, f"{one.get(name, 0):,}", f"{other.get(name, 0):,}"] for name in names]
        yield ""
        yield _table((head, "consumer", "shadow"), rows).removesuffix("\n")


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_IDS:,} more" if len(ids) > MOST_IDS else ""
    return " ".join(ids[:MOST_IDS]) + more


def _cells(each: Mapping[str, Any]) -> list[str]:
    tokens = f"{each['shadow_page']['tokens']:,}" if each["shadow_page"] else "-"
    counts = [f"{len(each[name]):,}" for name in ("only_consumer", "only_shadow", "out_of_order")]
    names = [each["trigger"], each["session"], each["shadow"]]
    return [*names, f"{each['page']['tokens']:,}", tokens, f"{each['equal_lines']:.0%}", *counts]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The columns that hold numbers are aligned on the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    columns = list(zip(*rows, strict=True)) or [()] * len(heads)
    numbers = [all(cell[:1].isdigit() or cell[:1] == "-" for cell in column) for column in columns]
    lines = (
        [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, numbers, strict=True)]
        for row in (heads, *rows)
    )
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in lines)
