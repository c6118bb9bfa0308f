"""Limits grow with a message; what asks for too much of a long one is stopped as well."""

from time import thread_time

import pytest

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.meter import Limits
from builder.assemble.items.forms import WHOLE
from builder.domain.errors import Misconfigured
from tests.factories import make_breadcrumb
from tests.payloads import PAYLOADS, Payload, leaks

MESSAGES = {
    "words": "Where does the API key go?\n" * 30_000,
    "blanks": "a\n-" + " " * 300_000 + "x",
    "blanks that do not break": "\u00a0" * 300_000,
    "one letter": "a" * 600_000,
    "emoji": "\U0001f600" * 200_000,
}
MOST_SECONDS = 5.0
"""Of the processor, generous: what is not stopped takes minutes or for ever."""
BOMBS = [payload for payload in PAYLOADS if payload.family == "run_bombs"]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("payload", BOMBS, ids=lambda payload: payload.id)
def test_it_is_stopped_or_makes_no_more_than_it_may(payload: Payload, message: str) -> None:
    text, limits = MESSAGES[message], Limits()
    began = thread_time()
    try:
        templates = TemplateSet({"generic": "{{ schema }}", "user.message.v1": payload.text}, {})
    except Misconfigured:
        return
    fragment = JinjaRendering(templates, len).fragment(make_breadcrumb(text), WHOLE, "User")
    assert thread_time() - began < MOST_SECONDS
    assert len(fragment.text) <= limits.characters + 2 * limits.characters_each * len(text)
    assert leaks(fragment.text[:10_000] + fragment.failed, payload.text + "1337 191191191") == []


@pytest.mark.parametrize("message", MESSAGES)
def test_no_message_takes_long_by_the_bundled_ways_to_show_it(message: str) -> None:
    source = "{{ text | block }}{{ text | below }}{{ text | inline }}{{ {'a': text} | readable }}{{ {'a': text} | arguments }}"
    rendering = JinjaRendering(TemplateSet({"generic": source + "{{ text | sentence }}"}, {}), len)
    began = thread_time()
    assert rendering.fragment(make_breadcrumb(MESSAGES[message]), WHOLE, "User").failed == ""
    assert thread_time() - began < MOST_SECONDS
