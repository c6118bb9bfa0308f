"""Failures are counted by template, and each one is reported."""

from builder.adapters.templates.page_rendering import Failures
from builder.domain.reports import Failure


def test_a_template_keeps_its_first_reason_and_counts() -> None:
    reported: list[Failure] = []
    failures = Failures(reported.append)
    for reason in ("line 1", "line 2"):
        failures.add(Failure(kind="hints", name="note.v1", reason=reason, instead="the generic hint"))
    failures.add(Failure(kind="pages", name="xml", reason="line 3", instead="the bundled page"))
    assert [(failure.file, failure.reason, failure.times) for failure in failures.all] == [
        ("hints/note.v1.md.j2", "line 1", 2),
        ("pages/xml.md.j2", "line 3", 1),
    ]
    assert [failure.times for failure in reported] == [1, 2, 1]
