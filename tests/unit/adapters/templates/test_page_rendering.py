"""Failures are counted by template, and the ends of sections are found in the text of a page."""

from builder.adapters.templates.failures import Failure
from builder.adapters.templates.page_rendering import END, Failures, layout_of, marked_ends
from builder.assemble.items.rendering import Group, PageSection


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


def section(*fragments: str) -> PageSection:
    return PageSection(name="x", title="x", groups=(Group(date="", fragments=fragments),))


def test_ends_are_offsets_behind_the_line_of_the_last_fragment() -> None:
    layout = layout_of(f"## A\n- one{END}\n\n## B\n- two{END}\n", 2)
    assert (layout.text, layout.ends) == ("## A\n- one\n\n## B\n- two\n", (11, 23))


def test_a_page_that_does_not_show_each_section_once_has_no_ends() -> None:
    assert layout_of(f"- one{END}\n", 2).ends == ()


def test_only_the_last_fragment_of_a_section_is_marked() -> None:
    first, empty = marked_ends((section("a", "b"), section()))
    assert first.groups[0].fragments == ("a", f"b{END}")
    assert empty.groups[0].fragments == ()
