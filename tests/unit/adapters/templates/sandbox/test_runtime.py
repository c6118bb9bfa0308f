"""A field that a body lacks is empty and false, all else undefined is a mistake; a rendering has so many steps and characters."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.sandbox.runtime import (
    CLOCK_CHARS,
    CLOCK_STEPS,
    LimitExceeded,
    Limits,
    charge,
    charge_for,
    metered,
    size,
    step,
)
from builder.assemble.items.forms import WHOLE
from tests.unit.adapters.templates.test_hints import crumb

BODY = {
    "a": {"b": "bee", "n": None, "items": "three"}, "word": "text", "number": 5, "no": None, "list": ["one", "two"],
    "rows": [{"name": "x"}, {"name": "y", "size": 2}], "empty": [],
}  # fmt: skip
STAYS = ("u", "v")
"""Around what is tried, because a hint that shows nothing has failed."""


def tried(source: str) -> tuple[str, str]:
    """What this hint makes of the body, and why it could not."""
    templates = TemplateSet({"generic": "(generic)", "ticket.v1": source.join(STAYS)}, {})
    fragment = JinjaRendering(templates, len).fragment(crumb("ticket.v1", BODY), WHOLE, "User")
    return fragment.text, fragment.failed


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ body.missing }}", ""),
        ("{{ body.missing.more.and_more }}", ""),
        ("{{ body['missing'] }}", ""),
        ("{{ body['missing']['more'] }}", ""),
        ("{{ body.a.missing }}", ""),
        ("{{ body.a.b.c.d }}", ""),
        ("{{ body.a.n }}{{ body.a.n.m }}", ""),
        ("{{ body.no }}{{ body.no.more }}", ""),
        ("{{ body.word.missing }}", ""),
        ("{{ body.number.missing }}", ""),
        ("{{ body.list[7] }}{{ body.list[7].x }}", ""),
        ("{{ body.missing[0] }}{{ body.missing[:3] }}", ""),
        ("{{ body.get('missing') }}{{ body.get('missing').x }}", ""),
        ("{{ body.missing.get('x') }}{{ body.missing.upper() }}", ""),
        ("{% if body.missing %}yes{% else %}no{% endif %}", "no"),
        ("{% if body.a.missing.more %}yes{% endif %}", ""),
        ("{{ 'yes' if not body.missing }}", "yes"),
        ("{% for x in body.missing %}x{% else %}none{% endfor %}", "none"),
        ("{% for key, value in body.missing.items() %}x{% endfor %}", ""),
        ("{% for key, value in body.missing | items %}x{% endfor %}", ""),
        ("{% for row in body.rows %}{{ row.name }}{{ row.size }};{% endfor %}", "x;y2;"),
        ("{{ body.rows | map(attribute='size') | join('-') }}", "-2"),
        ("{{ body.rows | selectattr('size') | map(attribute='name') | join }}", "y"),
        ("{{ body.missing | default('none') }}", "none"),
        ("{{ body.missing | upper }}{{ body.missing | trim }}{{ body.missing | title }}", ""),
        ("{{ body.missing | length }}{{ body.missing | int }}{{ body.missing | float }}", "000.0"),
        ("{{ body.missing | list }}{{ body.missing | sort }}", "[][]"),
        ("{{ body.missing | join(', ') }}{{ body.missing | first }}{{ body.empty | first }}", ""),
        ("{{ body.missing | replace('a', 'b') }}{{ body.missing | truncate(3) }}", ""),
        ("{{ body.missing | readable }}{{ body.missing | inline }}{{ body.missing | sentence }}{{ body.a.n | readable }}", ""),
        ("{{ body.missing | tojson }}", "null"),
        ("{{ body.missing | round }}", "0"),
        ("{{ body.missing ~ 'x' }}{{ 'x' + body.missing }}{{ body.missing + 'x' }}", "xxx"),
        ("{{ body.missing + 1 }}{{ 1 + body.missing }}{{ body.missing * 2 }}{{ body.missing - 1 }}{{ -body.missing }}", "11"),
        ("{{ '{}'.format(body.missing) }}", ""),
        ("{{ body.missing > 1 }}{{ 1 < body.missing }}{{ body.missing <= 1 }}", "FalseFalseFalse"),
        ("{{ body.missing == '' }}{{ body.missing == none }}{{ body.missing != 'x' }}", "TrueTrueTrue"),
        ("{{ body.missing in 'abc' }}{{ body.missing in body.list }}{{ 'a' in body.missing }}", "FalseFalseFalse"),
        ("{{ body.missing not in 'abc' }}{{ 'word' in body }}{{ 'wird' in body }}", "TrueTrueFalse"),
        (
            "{{ body.missing is defined }}{{ body.missing is none }}{{ body.no is none }}{{ body.word is none }}",
            "FalseTrueTrueFalse",
        ),
        (
            "{{ 'abc'.replace('b', body.missing) }}{{ 'abc'.removeprefix(body.missing) }}{{ ', '.join(['a', body.missing]) }}",
            "acabca,",
        ),
        ("{{ body.a.items }}", "three"),
        ("{{ none }}", ""),
        ("{% for x in body.list %}{{ loop.previtem }}{{ x }}{% endfor %}", "oneonetwo"),
    ],
)
def test_a_missing_field_is_empty_and_false(source: str, text: str) -> None:
    shown, failed = tried(source)
    assert (shown.removeprefix("- ").replace(" ", ""), failed) == (text.join(STAYS), "")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ bodi.a }}", "'bodi' is undefined"),
        ("{% if bodi %}{% endif %}", "'bodi' is undefined"),
        ("{{ bodi | default('x') | upper }}{{ bodi.a }}", "'bodi' is undefined"),
        ("{{ text.titel }}", "'str object' has no attribute 'titel'"),
        ("{{ speaker.name }}", "'str object' has no attribute 'name'"),
        ("{{ tags.first }}", "'tuple object' has no attribute 'first'"),
        ("{{ {'a': 1}.b }}", "'dict object' has no attribute 'b'"),
        ("{% for x in body.list %}{{ loop.indexx }}{% endfor %}", "has no attribute 'indexx'"),
        ("{{ body['__cla' ~ 'ss__'].x }}", "is unsafe"),
        ("{{ body.list.append('x') }}", "the method 'append' is not for templates"),
        ("{{ body.word.encode() }}", "the method 'encode' is not for templates"),
    ],
)
def test_everything_else_that_is_undefined_stays_a_mistake(source: str, reason: str) -> None:
    shown, failed = tried(source)
    assert shown == "- (generic)"
    assert reason in failed


LIMITS = Limits(steps=3, steps_each=1, characters=10, characters_each=2, seconds=math.inf)


class Clock:
    def __init__(self) -> None:
        self.seconds = 7.0

    def __call__(self) -> float:
        return self.seconds


def steps(number: int) -> None:
    for _ in range(number):
        step()


def test_steps_are_counted() -> None:
    with metered(LIMITS, 0):
        steps(3)
        with pytest.raises(LimitExceeded, match="more steps"):
            step()


def test_characters_are_counted_with_what_values_hold() -> None:
    with metered(LIMITS, 0):
        charge_for(["abc", "de"])
        with pytest.raises(LimitExceeded, match="more text"):
            charge(3)


def test_larger_values_have_larger_limits() -> None:
    with metered(LIMITS, 2):
        steps(5)
        charge(14)


def test_two_renderings_are_counted_apart() -> None:
    for _ in range(2):
        with metered(LIMITS, 0):
            charge(10)


def test_its_time_is_looked_at_between_steps_and_before_much_text() -> None:
    clock = Clock()
    limits = Limits(seconds=0.5, clock=clock)
    works: tuple[tuple[Callable[[int], None], int], ...] = ((charge, CLOCK_CHARS + 1), (steps, CLOCK_STEPS))
    for work, much in works:
        with metered(limits, 0):
            clock.seconds += 0.5
            work(much)
            clock.seconds += 0.01
            with pytest.raises(LimitExceeded, match=r"it takes longer than 0\.5 s"):
                work(much)


@pytest.mark.parametrize(
    ("value", "characters"), [("abc", 4), (["a", "b"], 5), ({"a": "bc"}, 6), (7, 2), (2**30, 11), (None, 1), ([[]], 2)]
)
def test_the_size_of_a_value_is_what_it_holds_and_one_for_each(value: Any, characters: int) -> None:
    assert size(value) == characters


def test_counting_ends_above_its_limit() -> None:
    assert 10 < size(["x" * 5] * 100_000, 10) < 100_100
