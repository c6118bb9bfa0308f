"""Before templates are in force they are tried on the examples of the schemas."""

import json
import math

import pytest

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.sandbox.runtime import Limits
from builder.adapters.templates.trial import MAX_CHANGES, SHOW, faults, hides_words
from builder.app.config import bundled_folder, read_layers
from builder.domain.errors import Misconfigured
from tests.factories import make_breadcrumb
from tests.hostile import LOOP

HINTS, PAGES, LANGUAGES = templates_of(read_layers((bundled_folder("templates"),)))

FRAGMENTS = "{% for s in sections %}{% for g in s.groups %}{% for f in g.fragments %}"
ENDS = "{% endfor %}{% endfor %}{% endfor %}"
NOTHING = "it fails on an example: it shows nothing of its words"
EXAMPLE = 'the example {"content": "Where do I set the API key?", "session_id": "s42", "speaker": "Maya"}'


def faults_of(hint: str = "", page: str = "", schema: str = "user.message.v1") -> list[tuple[str, str, str]]:
    """File, what is wrong and what to do, with this hint or page beside the bundled ones."""
    hints, pages = ({schema: hint} if hint else {}), ({"mine": page} if page else {})
    found = faults(TemplateSet(HINTS | hints, PAGES | pages, LANGUAGES, Limits(seconds=math.inf)))
    return [(finding.file, finding.problem, finding.fix) for finding in found]


def test_the_bundled_templates_have_no_faults() -> None:
    assert faults_of() == []


@pytest.mark.parametrize(
    ("source", "problem", "fix"),
    [
        ("{{ speaker }}: {{ txet }}", "'txet' is no value of a template", "write text"),
        ("{% if body.never %}{{ txet }}{% endif %}x", "'txet' is no value of a template", "write text"),
        ("- {{ speaker }}: {{ body.contnt }}", f"{NOTHING}; {EXAMPLE} has no body.contnt", "write body.content"),
        ("{{ body.text }}: {{ body.user_id }}", f"{NOTHING}; {EXAMPLE} has no body.text, body.user_id", SHOW),
        ("- {{ speaker }} said something", f"{NOTHING}; {EXAMPLE} has every field", SHOW),
        ("- {{ body.speaker }}: {{ body.content | length }} letters", NOTHING, SHOW),
        ("- {{ speaker }}{% if body.content %} spoke{% endif %}", NOTHING, SHOW),
        ("{{ text.titel }}", "it fails on an example: line 1: 'str object' has no attribute 'titel'", "mend the template"),
        ("{{ text + 1 }}", "it fails on an example: line 1: TypeError: can only concatenate str", "mend the template"),
        ("{{ 'x' * 10000000 }}", "it fails on an example: line 1: it makes more text than a rendering may", "mend the template"),
        (LOOP, "it fails on an example: line 1: it takes more steps", "mend the template"),
        (" ", "there is nothing in it", "write what is to be shown, or take the file away"),
        ("{{ body.title }}", "it fails on an example: it renders nothing; the example", SHOW),
        ("{{ context.content }}", "'context' is no value of a template", "write body"),
    ],
)
def test_a_hint_that_fails_on_an_example_is_a_fault(source: str, problem: str, fix: str) -> None:
    ((file, said, do),) = faults_of(hint=source)
    assert file == "hints/user.message.v1.md.j2"
    assert said.startswith(problem)
    assert do == fix


@pytest.mark.parametrize(
    ("schema", "source", "field"),
    [
        ("tool.response.v1", "{{ speaker }}: {{ body.output }}", "body.output"),
        ("tool.response.v1", "{{ body.tool }}: {{ body.status }}", ""),
        ("note.v1", "{{ '{:,.2f}'.format(body.amount) }}", "body.amount"),
        ("ticket.v1", "{{ '{:,.2f}'.format(body.amount) }}", "body.amount"),
        ("generic", "- {{ speaker }}: {{ body.title }}", "body.title"),
    ],
)
def test_a_fault_names_the_example_and_the_field_that_it_lacks(schema: str, source: str, field: str) -> None:
    ((_, said, _),) = faults_of(hint=source, schema=schema)
    assert said.startswith("it fails on an example: ")
    assert said.endswith(f" has no {field}" if field else " has every field")
    assert '; the example {"' in said


@pytest.mark.parametrize(
    ("schema", "source"),
    [
        ("user.message.v1", "{{ text | upper }}"),
        ("tool.response.v1", "{{ body.error or body.output.result }}"),
        ("tool.catalog.v1", "{% for tool in body.tools %}- {{ tool.name }}\n{% endfor %}"),
        ("browser.tab.context.v1", "- {{ body.title }}"),
    ],
)
def test_a_hint_may_show_a_part_of_the_words_in_its_own_way(schema: str, source: str) -> None:
    assert faults_of(hint=source, schema=schema) == []


@pytest.mark.parametrize(
    "source",
    [
        "- {{ body.question }}{% if body.asked_by %} (von {{ body.asked_by }}){% endif %}",
        "{% for row in body.rows %}{{ row.name | upper }}{% endfor %}",
        "{{ body.amount | round(2) }} {{ body.currency }}",
    ],
)
def test_a_hint_for_a_schema_that_nobody_knows_may_use_any_field(source: str) -> None:
    assert faults_of(hint=source, schema="ticket.v1") == []


def test_a_hint_file_without_anything_in_it_is_a_fault_for_any_schema() -> None:
    told = [("hints/ticket.v1.md.j2", "there is nothing in it", "write what is to be shown, or take the file away")]
    assert faults_of(hint="{# later #}\n", schema="ticket.v1") == told


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ sektions }}", "'sektions' is no value of a template"),
        ("{% for section in sections %}{{ section.titel }}{% endfor %}", "section.titel does not exist"),
        ("{{ 'x' * 10000000 }}", "it fails on an example: line 1: it makes more text"),
        ("{% for s in sections %}{{ s.title }}{% endfor %}", "it leaves out fragments of a section"),
        ("{% for s in sections %}{{ s.groups[0].fragments[0] }}{% endfor %}", "it leaves out fragments of a section"),
        (f"{FRAGMENTS}{{{{ f }}}} {{{{ f }}}}{ENDS}", "it repeats fragments of a section"),
        (f"{FRAGMENTS}{{{{ f }}}}{ENDS}{FRAGMENTS}{{{{ f }}}}{ENDS}", "it repeats fragments of a section"),
        ("{# #}", "there is nothing in it"),
    ],
)
def test_a_page_that_fails_or_takes_a_fragment_away_is_a_fault(source: str, problem: str) -> None:
    ((file, said, _),) = faults_of(page=source)
    assert file == "pages/mine.md.j2"
    assert said.startswith(problem)


@pytest.mark.parametrize("depth", [40, 80, 100, 120, 160, 190])
@pytest.mark.parametrize(
    "around",
    [
        ("{{ body", ".x", "", " }}y"),
        ("{{ text", " | upper", "", " }}"),
        ("{{ ", "-", "", "1 }}"),
        ("", "{% with %}", "{% endwith %}", ""),
    ],
)
def test_what_can_just_be_compiled_is_looked_at_or_refused_whatever_its_file_is_called(
    around: tuple[str, str, str, str], depth: int
) -> None:
    before, opening, closing, behind = around
    source = before + opening * depth + ("x" if closing else "") + closing * depth + behind
    try:
        templates = TemplateSet(HINTS | {"größe; a b.v1": source}, PAGES, LANGUAGES)
    except Misconfigured:
        return
    assert {finding.file for finding in faults(templates)} <= {"hints/größe; a b.v1.md.j2"}


def test_a_body_of_many_fields_is_not_refused_for_the_fields_that_are_tried() -> None:
    fields = {f"field_{number}": f"value {number}" for number in range(MAX_CHANGES + 20)}
    crumb = make_breadcrumb("", schema="ticket.v1", body=json.dumps(fields))
    before = TemplateSet({"generic": "{{ body.field_1 }}"}, {})
    last = TemplateSet({"ticket.v1": f"- {{{{ body.field_{MAX_CHANGES + 19} }}}}", "generic": "{{ text }}"}, {})
    assert not hides_words("ticket.v1", before, "generic", last, crumb)
