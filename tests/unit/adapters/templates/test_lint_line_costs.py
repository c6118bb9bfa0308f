"""The tokens of a hint are those of its lines, and the dearest line comes first."""

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.lint import line_costs
from builder.app.config import bundled_folder, read_layers


def test_each_line_has_the_text_that_it_wrote() -> None:
    source = "- {{ body.title }}:\n{% for x in body.items %}\n  {{ x.name }} is long and long\n{% endfor %}\n\nend\n"
    costs = line_costs(TemplateSet({"generic": "{{ text }}", "ticket.v1": source}, {}), "ticket.v1", len)
    assert [(cost.line, cost.text) for cost in costs[:2]] == [
        (3, "{{ x.name }} is long and long"),
        (1, "- {{ body.title }}:"),
    ]
    assert costs[0].tokens == len("  first is long and long\n  second is long and long\n")
    assert round(sum(cost.share for cost in costs), 2) == 1


def test_a_hint_that_fails_has_no_costs() -> None:
    assert line_costs(TemplateSet({"generic": "{{ nothing }}"}, {}), "generic", len) == ()


def test_every_bundled_hint_has_costs() -> None:
    templates = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    hints = templates.sources["hints"]
    assert [name for name in hints if not line_costs(templates, name, len)] == []
