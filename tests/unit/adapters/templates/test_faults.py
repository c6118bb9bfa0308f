"""Names that do not exist are told with their line."""

import pytest

from builder.adapters.templates.faults import body_fields, static_faults
from tests.factories import PHRASES


@pytest.mark.parametrize(
    ("source", "line", "fix"),
    [
        ("x\n{{ body.toool }}", 2, "write body.tool"),
        ('{{ body["outptu"] }}', 1, "write body.output"),
        ("{{ body.get('eror') }}", 1, "write body.error"),
        ("{% for row in body.outputs %}{{ row }}{% endfor %}", 1, "write body.output"),
    ],
)
def test_a_misspelt_field_of_a_known_schema_is_an_error(source: str, line: int, fix: str) -> None:
    (fault,) = body_fields("tool.response.v1", source)
    assert (fault.line, fault.fix, fault.severity) == (line, fix, "error")


def test_a_field_that_senders_may_add_is_a_note_and_methods_are_no_fields() -> None:
    (fault,) = body_fields("tool.response.v1", "{% if body.x %}x{% endif %}{{ body.items() | length }}")
    assert (fault.problem, fault.severity) == ("body.x is no field of schemas/tool.response.v1.json", "note")


def test_of_a_schema_that_nobody_knows_any_field_is_right() -> None:
    assert list(body_fields("ticket.v1", "{{ body.anything }}")) == []


@pytest.mark.parametrize(
    ("source", "problem", "fix"),
    [
        ("{% for s in sections %}\n{{ s.titel }}{% endfor %}", "s.titel does not exist", "write s.title"),
        (
            "{% for s in sections %}{% for g in s.groups %}\n{{ g.dates }}{% endfor %}{% endfor %}",
            "g.dates does not exist",
            "write g.date",
        ),
    ],
)
def test_a_misspelt_field_of_a_page_has_its_line(source: str, problem: str, fix: str) -> None:
    (fault,) = static_faults("pages", source, PHRASES.entries)
    assert (fault.line, fault.problem, fault.fix) == (2, problem, fix)
