"""Limits grow with a message; what asks for too much of a long one is stopped as well, by counted limits alone."""

import math
from collections.abc import Callable

import pytest

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import Limits
from builder.assemble.items.rendering import WHOLE
from builder.domain.errors import Misconfigured
from tests.factories import make_breadcrumb
from tests.growth import LINEAR, growth
from tests.payloads import PAYLOADS, leaks, naming

MESSAGES: dict[str, Callable[[int], str]] = {
    "words": lambda size: "Where does the API key go?\n" * (size // 20),
    "blanks": lambda size: "a\n-" + " " * (size // 2) + "x",
    "blanks that do not break": lambda size: "\u00a0" * (size // 2),
    "one letter": lambda size: "a" * size,
    "emoji": lambda size: "\U0001f600" * (size // 3),
}
"""Messages of about so many characters."""
LONG = 600_000
UNTIMED = Limits(seconds=math.inf)
"""Without the clock, which is the last resort."""
BOMBS = [payload for payload in PAYLOADS if payload.family == "run_bombs"][::3]


@pytest.mark.parametrize("message", MESSAGES)
def test_it_is_stopped_or_makes_no_more_than_it_may(message: str) -> None:
    crumb = make_breadcrumb(MESSAGES[message](LONG))
    most = UNTIMED.characters + 2 * UNTIMED.characters_each * len(crumb.text)
    for payload in BOMBS:
        try:
            templates = TemplateSet({"generic": "{{ schema }}", "user.message.v1": payload.text}, {}, limits=UNTIMED)
        except Misconfigured:
            continue
        with naming(payload):
            fragment = JinjaRendering(templates, len).fragment(crumb, WHOLE, "User")
            assert len(fragment.text) <= most
            assert leaks(fragment.text[:10_000] + fragment.failed, payload.text + "1337 191191191") == []


@pytest.mark.parametrize("message", MESSAGES)
def test_the_bundled_ways_to_show_a_message_take_linear_time(message: str) -> None:
    source = "{{ text | block }}{{ text | below }}{{ text | inline }}{{ {'a': text} | readable }}{{ {'a': text} | arguments }}"
    templates = TemplateSet({"generic": source + "{{ text | sentence }}"}, {})

    def shown(size: int) -> None:
        assert JinjaRendering(templates, len).fragment(make_breadcrumb(MESSAGES[message](size)), WHOLE, "User").failed == ""

    assert growth(shown, LONG // 10) < LINEAR
