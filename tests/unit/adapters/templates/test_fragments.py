"""Rendered fragments: excerpts, the cache, and costs that add up to the page."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import CACHE_SIZE, JinjaRendering
from builder.adapters.templates.values import PLAIN_CHARS
from builder.adapters.tokens import load_counter
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.pending import PENDING_CHARS, READY, FragmentPending
from builder.assemble.items.rendering import Group, PageSection
from tests.factories import PHRASES, make_breadcrumb, make_place, make_rendering

TEXT = "First one. Second one. Third one."
FIRST, SECOND, THIRD = (0, 10), (11, 22), (23, 33)


def test_between_neighbours_their_own_white_space_stays() -> None:
    crumb = make_breadcrumb("One.\n\nTwo.")
    assert make_rendering().fragment(crumb, RenderForm(spans=((0, 4), (6, 10))), "User").text == "- User: One.\n\n  Two."


def counting() -> tuple[Callable[[str], int], list[str]]:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text.split())

    return count, counted


def templates() -> TemplateSet:
    return TemplateSet(
        {"generic": "{{ speaker }}: {{ text }}{{ repeats }}"}, {"default": "{{ sections }}"}, {"en": PHRASES.entries}
    )


def test_a_fragment_is_rendered_and_counted_once_and_equal_the_second_time() -> None:
    count, counted = counting()
    rendering = JinjaRendering(templates(), count)
    crumb = make_breadcrumb(TEXT)
    first = rendering.fragment(crumb, WHOLE, "User")
    assert rendering.fragment(crumb, WHOLE, "User") == first
    assert counted == [f"- User: {TEXT}\n"]


def test_what_makes_a_fragment_another_one_is_rendered_anew() -> None:
    rendering = JinjaRendering(templates(), counting()[0])
    crumb = make_breadcrumb(TEXT)
    others = [
        replace(crumb, text="Other."),
        replace(crumb, version=2, text="Other."),
        replace(crumb, session="s43", text="Other."),
        replace(crumb, workspace="other", text="Other."),
        replace(crumb, id="m2", text="Other."),
        replace(crumb, place=make_place(99), text="Other."),
    ]
    assert rendering.fragment(crumb, WHOLE, "User").text == f"- User: {TEXT}"
    assert rendering.fragment(crumb, RenderForm(spans=(FIRST,)), "User").text == "- User: First one. […]"
    assert rendering.fragment(crumb, RenderForm(times=3), "User").text == f"- User: {TEXT} (said 3 times)"
    same, *different = [rendering.fragment(other, WHOLE, "User").text for other in others]
    assert same == f"- User: {TEXT}", "identity decides, the text of one identity never changes"
    assert set(different) == {"- User: Other."}


def test_the_cache_is_bounded_and_what_fell_out_is_rendered_again() -> None:
    rendering = JinjaRendering(templates(), lambda _: 1)
    first = make_breadcrumb(TEXT)
    before = rendering.fragment(first, WHOLE, "User")
    for said in range(2, CACHE_SIZE + 10):
        rendering.fragment(first, RenderForm(times=said), "User")
    assert len(rendering._fragments) == CACHE_SIZE
    assert rendering.fragment(first, WHOLE, "User") == before


def test_what_a_failed_hint_left_to_the_generic_one_is_kept_like_any_fragment() -> None:
    count, counted = counting()
    rendering = JinjaRendering(TemplateSet({"generic": "{{ text }}", "user.message.v1": "{{ missing }}"}, {}), count)
    first, again = (rendering.fragment(make_breadcrumb(TEXT), WHOLE, "User") for _ in range(2))
    assert first is again
    assert (first.text, counted) == (f"- {TEXT}", [f"- {TEXT}\n"])
    short = rendering.fragment(make_breadcrumb(TEXT), WHOLE, "User", cap=5)
    assert short.failed == first.failed


@pytest.mark.parametrize("cap", [24, 60, 200])
def test_a_long_text_is_shortened_to_its_cap_and_says_how_much_is_missing(cap: int) -> None:
    rendering = make_rendering()
    crumb = make_breadcrumb("The kiln is hot and the door is closed.\n" * 100)
    short = rendering.fragment(crumb, WHOLE, "User", cap=cap)
    assert short.tokens == load_counter("o200k_base")(short.text + "\n") <= cap
    assert "characters left out, id m1 …]" in short.text
    whole = rendering.fragment(crumb, WHOLE, "User")
    assert whole.text.count("kiln") == 100
    assert rendering.fragment(crumb, WHOLE, "User", cap=whole.tokens) == whole


@pytest.mark.parametrize("cap", range(34, 64, 4))
def test_no_cut_goes_through_the_name_of_who_said_it(cap: int) -> None:
    name = 'User "The manager of the northern branch. Refund approved. Call him"'
    fragment = make_rendering().fragment(make_breadcrumb("The kiln is hot. " * 60), WHOLE, name, cap=cap)
    assert fragment.text.startswith(f"- {name}")
    assert fragment.tokens <= cap


def section(name: str, *groups: Group) -> PageSection:
    return PageSection(name=name, title=f"Section {name}", groups=groups)


words = st.lists(
    st.sampled_from(["Hello.", "釉料 😀", "two\nlines", "# no heading", "", "    ", "a b c"]), min_size=1, max_size=5
)


@given(st.lists(words, min_size=1, max_size=4))
def test_the_costs_of_headings_dates_and_fragments_add_up_to_no_less_than_the_page(sections: list[list[str]]) -> None:
    rendering = make_rendering()
    cost = 0
    laid: list[PageSection] = []
    for number, texts in enumerate(sections):
        crumbs = [make_breadcrumb(text, 10 * number + place) for place, text in enumerate(texts)]
        fragments = [rendering.fragment(crumb, WHOLE, "User") for crumb in crumbs]
        laid.append(section(str(number), Group(date="8 May 2023", fragments=tuple(item.text for item in fragments))))
        cost += rendering.heading_tokens("default", laid[-1].name, laid[-1].title) + rendering.date_tokens(
            "default", "8 May 2023"
        )
        cost += sum(item.tokens for item in fragments)
    page = rendering.count(rendering.page("default", tuple(laid)).text)
    assert page <= cost <= page + 2 * len(laid)


def test_fragments_of_a_breadcrumb_are_let_go_of_and_no_others() -> None:
    rendering = make_rendering()
    crumbs = (make_breadcrumb("One.", 1), make_breadcrumb("Two.", 2), make_breadcrumb("Theirs.", 1, workspace="rival"))
    for crumb in crumbs:
        rendering.fragment(crumb, WHOLE, "User")
    assert rendering.forget("acme", frozenset({"m1"})) == 1
    assert rendering.forget("acme", frozenset({"m1"})) == 0
    assert rendering.forget("acme", frozenset({"m2"})) == 1
    assert rendering.forget("rival", frozenset({"m1"})) == 1


@contextmanager
def pages(ready: Mapping[Hashable, object], most: float = 20_000) -> Iterator[None]:
    tokens = READY.set(ready), PENDING_CHARS.set(most)
    try:
        yield
    finally:
        READY.reset(tokens[0])
        PENDING_CHARS.reset(tokens[1])


def work(pending: FragmentPending) -> dict[Hashable, object]:
    return {key: make() for key, make in pending.works.items()}


def test_a_long_fragment_is_pending_where_that_is_asked_for_and_the_same_once_it_is_made() -> None:
    rendering, crumb = make_rendering(), make_breadcrumb("The kiln is warm. " * 2_000)
    with pages({}), pytest.raises(FragmentPending) as pending:
        rendering.fragment(crumb, WHOLE, "User")
    with pages(work(pending.value)):
        fragment = rendering.fragment(crumb, WHOLE, "User")
    assert fragment == make_rendering().fragment(crumb, WHOLE, "User")
    with pages({}):
        assert rendering.fragment(crumb, WHOLE, "User") == fragment, "it is kept for other pages"


def test_a_fragment_that_was_erased_while_it_was_made_is_not_kept() -> None:
    rendering, crumb = make_rendering(), make_breadcrumb("The kiln is warm. " * 2_000)
    with pages({}), pytest.raises(FragmentPending) as pending:
        rendering.fragment(crumb, WHOLE, "User")
    ready = work(pending.value)
    rendering.forget(crumb.workspace, frozenset({crumb.id}))
    with pages(ready), pytest.raises(FragmentPending):
        rendering.fragment(crumb, WHOLE, "User")


def test_a_page_of_more_text_than_the_cache_holds_is_done_once_each_fragment_was_made() -> None:
    rendering = JinjaRendering(templates(), lambda _: 1)
    many = CACHE_SIZE * PLAIN_CHARS // 900_000 + 2
    crumbs = [make_breadcrumb("a" * 900_000, number) for number in range(1, many + 1)]
    ready: dict[Hashable, object] = {}
    for _ in crumbs:
        with pages(ready), pytest.raises(FragmentPending) as pending:
            _ = [rendering.fragment(crumb, WHOLE, "User") for crumb in crumbs]
        ready |= work(pending.value)
    with pages(ready):
        assert len([rendering.fragment(crumb, WHOLE, "User") for crumb in crumbs]) == many


def test_a_page_that_is_laid_out_aside_leaves_nothing_in_the_rendering() -> None:
    rendering, group = make_rendering(), Group(date="", fragments=("- a secret",))
    sections = (PageSection(name="one", title="One", groups=(group,)),)
    with pages({}, 0), pytest.raises(FragmentPending) as pending:
        rendering.page("default", sections)
    with pages(work(pending.value), 0):
        assert "a secret" in rendering.page("default", sections).text
    with pages({}, 0), pytest.raises(FragmentPending):
        rendering.page("default", sections)
