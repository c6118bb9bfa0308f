"""Loops that may run without end, and lists that a hint shows whole, are told with their line."""

import pytest

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.app.config import bundled_folder, read_layers
from builder.extras.workshop.template_lint import MANY, endless, lint_templates, open_lists, with_many

GENERIC = {"generic": "{{ schema }}: {{ body | readable }}"}


@pytest.mark.parametrize(
    ("source", "line", "problem"),
    [
        (
            "{% for a in body.rows %}\n{% for b in body.rows %}x{% endfor %}{% endfor %}",
            2,
            "it goes through body.rows for each entry of body.rows, as the loop of line 1 does",
        )
    ],
)
def test_what_has_no_end_is_told_with_its_line(source: str, line: int, problem: str) -> None:
    assert next((each.line, each.problem) for each in endless(source)) == (line, problem)


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in body.rows %}{% for b in a.rows %}x{% endfor %}{% endfor %}",
        "{% for a in body.rows %}{% for b in body.rows[:5] %}x{% endfor %}{% endfor %}",
        "{% for a in body.rows %}x{% endfor %}{% for a in body.rows %}x{% endfor %}",
    ],
)
def test_what_has_an_end_is_not(source: str) -> None:
    assert list(endless(source)) == []


def test_a_list_that_is_taken_whole_is_tried_with_many_entries() -> None:
    source = "{% for x in body.a.rows %}\n{% for y in body.rows[:3] %}{% endfor %}{% endfor %}"
    assert open_lists(source) == ((1, ("a", "rows")),)
    assert len(with_many({"a": {"rows": [{"x": 1}], "b": 2}}, ("a", "rows"))["a"]["rows"]) == MANY
    assert with_many({}, ("rows",))["rows"][0]["name"] == "first"


def test_a_list_with_which_a_hint_would_exceed_its_limits_is_told_with_the_bound_to_write() -> None:
    dear = (
        "- {{ body.title }}{% for x in body.rows %}{% for y in 'abcdefghijklmnopqrstuvwxyz' * 3 %}{{ y }}{% endfor %}{% endfor %}"
    )
    (finding,) = [each for each in lint_templates(TemplateSet(GENERIC | {"a.v1": dear}, {})) if each.severity == "note"]
    assert str(finding) == (
        "hints/a.v1.md.j2 line 1: note: with 1,000 entries of body.rows it exceeds its limits; write body.rows[:50]"
    )


def test_nothing_is_told_of_the_bundled_templates() -> None:
    assert list(lint_templates(TemplateSet(*templates_of(read_layers((bundled_folder("templates"),)))))) == []
