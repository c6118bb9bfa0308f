"""Emphasis is counted with its words; clocks, ids and counters of a hint are found with their line."""

import pytest

from builder.adapters.templates.folder import templates_of
from builder.app.config import bundled_folder, read_layers
from builder.extras.workshop.template_lint import first_line, moving, overused


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ALWAYS answer. NEVER guess. You MUST cite.", ""),
        ("ALWAYS this, ALWAYS that, NEVER so, MUST be.", "4 emphasis markers (ALWAYS 2 times, MUST, NEVER)"),
        ("DO NOT GUESS. READ THIS FIRST. NO JSON PLEASE. STOP AND THINK.",
         "4 runs of capitals (DO NOT GUESS, NO JSON PLEASE, READ THIS FIRST, STOP AND THINK)"),
        ("Stop!! No!!! Now!! Go!!!!", "4 times !!"),
        ("**a** " * 7, "7 bold texts"),
        ("**a** " * 6, ""),
        ("MUST MUST!! NEVER!! **a**", "3 emphasis markers (MUST 2 times, NEVER), 2 times !!"),
        ("HTTP API, JSON, NASA and the USA AND THE UN", "")
    ],
)  # fmt: skip
def test_too_much_is_told_with_the_words_and_their_number(text: str, problem: str) -> None:
    assert overused(text) == problem


def test_its_first_line_is_known() -> None:
    assert first_line("quiet\nstill\nYou MUST stop!!") == 3
    assert first_line("quiet") == 0


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
