"""The body of a summary is written and read back the same."""

import json
from collections.abc import Sequence

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.summary import KeptLine, Summary, read_summary
from tests.factories import make_breadcrumb

LINE = KeptLine(text="Ana: The kiln fires at cone 6.", day="8 May 2023", ids=("m3", "m4"), versions=(1, 2), verbatim=True, rank=3)
SUMMARY = Summary(
    lines=(LINE,), covered=("m3", "m4"), versions=(1, 2), previous="z0", last="m4", recipe="3f0c", by="extractive", language="en",
    at_once=True,
)  # fmt: skip


def test_a_summary_reads_back_as_it_was_written() -> None:
    crumb = make_breadcrumb("", schema="summary.v1", body=json.dumps(SUMMARY.body()))
    assert read_summary(crumb) == SUMMARY


def test_a_summary_of_another_service_stands_for_first_versions_and_needs_little() -> None:
    body = {"lines": [{"text": "x", "ids": ["m1"], "versions": [1]}], "covered": ["m1"], "last": "m1", "recipe": "r"}
    summary = read_summary(make_breadcrumb("", schema="summary.v1", body=json.dumps(body)))
    assert (summary.sources, summary.language, summary.at_once) == ((("m1", 1),), "und", False)
    assert (summary.lines[0].sources, summary.lines[0].rank) == ((("m1", 1),), 0)


def summary(identity: str, covers: Sequence[str] = (), text: str = "") -> Breadcrumb:
    body = json.dumps({"lines": [{"text": text}], "covered": list(covers)})
    return make_breadcrumb("", schema="summary.v1", id=identity, covers=tuple(covers), body=body)
