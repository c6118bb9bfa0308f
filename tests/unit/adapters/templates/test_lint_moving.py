"""Clocks, ids and counters of a hint are found with their line, and nothing else is."""

import pytest

from builder.adapters.templates.folder import templates_of
from builder.adapters.templates.lint import moving
from builder.app.config import bundled_folder, read_layers


def test_they_are_found_however_they_are_reached_each_at_its_first_line() -> None:
    source = '{{ id }}\n{{ body.updated_at }} {{ body["timestamp"] }}\n{{ body.get("ticket_id") }} {{ text }} {{ id }}'
    assert moving(source) == (("body.ticket_id", 3), ("body.timestamp", 2), ("body.updated_at", 2), ("id", 1))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("{{ body.createdAt }}", "body.createdAt"),
        ("{{ body.meta.request_id }}", "body.meta.request_id"),
        ("{{ body.rows | map(attribute='a.created_at') | join }}", "a.created_at"),
        ("{% for x in body.rows %}{{ loop.revindex }}{% endfor %}", "loop.revindex"),
        ("{% for x in body.rows %}{{ loop.length }}{% endfor %}", "loop.length"),
        ("{% for x in body.rows | sort %}{{ loop.index }}{% endfor %}", "loop.index"),
        ("{% for x in body.rows[::-1] %}{{ loop.index0 }}{% endfor %}", "loop.index0"),
        ("{{ now }}", "now"),
    ],
)
def test_what_moves_is_found(source: str, name: str) -> None:
    assert [each for each, _ in moving(source)] == [name]


@pytest.mark.parametrize(
    "source",
    [
        "{{ said }}{{ repeats }}",
        "{% for x in body.rows %}{{ loop.index }}{% endfor %}",
        "{% if body.kind == 'time' %}x{% endif %}",
        "{% set time = body.when %}{{ time }}",
        "{{ body.timeline }}{{ body.idea }}",
        "id now version",
    ],
)
def test_what_only_looks_like_it_is_not(source: str) -> None:
    assert moving(source) == ()


def test_the_bundled_hints_show_none() -> None:
    hints, _, _ = templates_of(read_layers((bundled_folder("templates"),)))
    assert {name: found for name, source in hints.items() if (found := moving(source))} == {}
