"""A template never stops the service: whatever it asks for costs its fragment or its page, or it is refused when it is read."""

import math
from collections.abc import Sequence

import pytest

from builder.adapters.templates.folder import MAX_STRIKES, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import Limits
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.rendering import WHOLE, Group, PageSection
from builder.domain.errors import Misconfigured
from tests.examples import is_full
from tests.factories import make_breadcrumb
from tests.hostile import ALL

OF_TEXT = ALL if is_full() else [source for source in ALL if "text" in source][::3]
"""What grows with its message."""
UNTIMED = Limits(seconds=math.inf)
"""Counted limits alone: without them it is hours or for ever, and the clock, the last resort, is not there."""
MESSAGE = "Where does the API key go? " * 5
LONG_MESSAGE = "Where does the API key go?\n" * 30_000
FRAGMENT = "- User: Where does the API key go?"
SECTIONS = (PageSection(name="x", title="Title", groups=(Group(date="", fragments=(FRAGMENT,)),)),)


def bundled_set() -> TemplateSet:
    return TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))


def as_hint(source: str, message: str) -> str:
    """What is shown of the message; nothing when the template is refused."""
    try:
        templates = TemplateSet({"generic": "{{ text }}", "user.message.v1": source}, {}, limits=UNTIMED)
    except Misconfigured:
        return ""
    return JinjaRendering(templates, len).fragment(make_breadcrumb(message), WHOLE, "User").text


@pytest.mark.parametrize(("message", "sources"), [(MESSAGE, ALL), (LONG_MESSAGE, OF_TEXT)], ids=["short", "long"])
def test_a_hint_that_asks_for_too_much_costs_its_fragment_or_is_refused(message: str, sources: Sequence[str]) -> None:
    for number, source in enumerate(sources):
        assert len(as_hint(source, message)) <= 1_000_000 + 50 * len(message), (number, source[:200])


def test_a_page_that_asks_for_too_much_is_laid_out_by_the_bundled_one_or_refused() -> None:
    bundled = bundled_set()
    for number, source in enumerate(ALL):
        try:
            pages = {"mine": "{% set text = sections[0].title %}" + source}
            templates = TemplateSet({"generic": "x"}, pages, limits=UNTIMED)
        except Misconfigured:
            continue
        text = JinjaRendering(templates, len, bundled).page("mine", SECTIONS).text
        little = FRAGMENT in text or len(text) < 100_000
        assert little, ("it showed what it was told to, which was too much", number, source[:200])


def test_a_template_that_is_too_long_is_refused_by_its_size() -> None:
    with pytest.raises(Misconfigured, match=r"hints/generic\.md\.j2: it has more than 65,536 characters; make it smaller"):
        TemplateSet({"generic": "x" * 65_537}, {})


def test_a_hint_may_do_with_a_long_message_what_it_does_with_a_short_one() -> None:
    source = "{% for line in text.splitlines() %}{{ loop.index }} {{ line | upper | trim }}\n{% endfor %}"
    shown = as_hint(source, "Where does it go?\n" * 5_000)
    assert shown.count("WHERE DOES IT GO?") == 5_000


def test_limits_are_arguments() -> None:
    templates = TemplateSet({"generic": "{% for x in text %}{{ x }}{% endfor %}"}, {}, limits=Limits(steps=10, steps_each=0))
    assert "more steps" in JinjaRendering(templates, len).fragment(make_breadcrumb("Hello, all of you."), WHOLE, "User").failed
    assert JinjaRendering(templates, len).fragment(make_breadcrumb("Hello."), WHOLE, "User").text == "- Hello."


def test_a_hint_that_exceeded_its_limits_time_and_again_rests_until_it_is_edited() -> None:
    templates = TemplateSet({"generic": "{{ text }}", "user.message.v1": ALL[0]}, {})
    rendering = JinjaRendering(templates, len)
    failures = [rendering.fragment(make_breadcrumb(MESSAGE, id=f"m{n}"), WHOLE, "User").failed for n in range(MAX_STRIKES + 2)]
    rests = f"it exceeded its limits {MAX_STRIKES} times and rests until it is edited"
    assert [rests in reason for reason in failures] == [False] * MAX_STRIKES + [True] * 2


def test_an_indent_of_the_template_is_not_repeated_without_end() -> None:
    shown = as_hint(" " * 60_000 + "- {{ text }}", LONG_MESSAGE)
    assert len(shown) < 5 * len(LONG_MESSAGE)
