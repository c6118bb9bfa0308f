"""The parts of a page as the templates lay them out."""

import pytest

from builder.assemble.items.rendering import FragmentPending, Group, Layout, PageSection, each
from tests.factories import make_rendering

RENDERING = make_rendering()
RECENT = PageSection(name="recent", title="Recent", groups=(Group(date="8 May 2024", fragments=("- One.", "- Two.")),))
CURRENT = PageSection(name="current", title="Now", groups=(Group(date="", fragments=("- Three.",)),))


def test_a_section_has_a_heading_its_note_its_date_line_and_its_fragments() -> None:
    section = PageSection(name="recent", title="Recent", groups=RECENT.groups, note="(A note.)")
    assert RENDERING.page("default", (section,)).text == "## Recent\n(A note.)\n[8 May 2024]\n- One.\n- Two.\n"


def test_the_ends_are_those_of_the_last_fragments() -> None:
    layout = RENDERING.page("default", (RECENT, CURRENT))
    assert [layout.text[:end].rsplit("\n", 1)[-1] or layout.text[:end].rsplit("\n", 2)[-2] for end in layout.ends] == [
        "- Two.", "- Three.",
    ]  # fmt: skip
    assert not layout.failed


def test_a_page_without_sections_is_empty() -> None:
    assert RENDERING.page("default", ()).text.strip() == ""


def test_heading_and_date_line_cost_what_they_add_to_the_page() -> None:
    count = RENDERING.count
    with_date = RENDERING.page("default", (RECENT,)).text
    fragments = count("- One.\n") + count("- Two.\n")
    assert count(with_date) == (
        RENDERING.heading_tokens("default", "recent", "Recent") + RENDERING.date_tokens("default", "8 May 2024") + fragments
    )


def test_a_layout_is_taken_as_whole_unless_it_says_otherwise() -> None:
    assert (Layout("text").ends, Layout("text").failed) == ((), False)


def test_all_that_wait_for_a_fragment_are_told_at_once() -> None:
    def waiting(name: str) -> int:
        raise FragmentPending({name: lambda: name})

    assert each((lambda: 1, lambda: 2)) == (1, 2)
    with pytest.raises(FragmentPending) as pending:
        each((lambda: 1, lambda: waiting("a"), lambda: waiting("b")))
    assert [*pending.value.works] == ["a", "b"]
