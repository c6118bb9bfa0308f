"""A template never stops the service: whatever it asks for costs its fragment or its page, or it is refused when it is read."""

import math

import pytest

from builder.adapters.templates.folder import MAX_STRIKES, TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import Limits
from builder.assemble.items.forms import WHOLE
from builder.domain.errors import Misconfigured
from tests.factories import make_breadcrumb
from tests.hostile import LOOP

UNTIMED = Limits(seconds=math.inf)
"""Counted limits alone: without them it is hours or for ever, and the clock, the last resort, is not there."""
MESSAGE = "Where does the API key go? " * 5
LONG_MESSAGE = "Where does the API key go?\n" * 30_000


def as_hint(source: str, message: str) -> str:
    """What is shown of the message; nothing when the template is refused."""
    try:
        templates = TemplateSet({"generic": "{{ text }}", "user.message.v1": source}, {}, limits=UNTIMED)
    except Misconfigured:
        return ""
    return JinjaRendering(templates, len).fragment(make_breadcrumb(message), WHOLE, "User").text


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
    templates = TemplateSet({"generic": "{{ text }}", "user.message.v1": LOOP}, {})
    rendering = JinjaRendering(templates, len)
    failures = [rendering.fragment(make_breadcrumb(MESSAGE, id=f"m{n}"), WHOLE, "User").failed for n in range(MAX_STRIKES + 2)]
    rests = f"it exceeded its limits {MAX_STRIKES} times and rests until it is edited"
    assert [rests in reason for reason in failures] == [False] * MAX_STRIKES + [True] * 2


def test_an_indent_of_the_template_is_not_repeated_without_end() -> None:
    shown = as_hint(" " * 60_000 + "- {{ text }}", LONG_MESSAGE)
    assert len(shown) < 5 * len(LONG_MESSAGE)
