"""Before templates are in force they are tried on the examples of the schemas."""

import pytest

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.trial import faults
from builder.app.config import read_layers
from builder.app.resources import bundled_folder
from builder.domain.errors import Misconfigured
from tests.hostile import ALL

HINTS, PAGES, LANGUAGES = templates_of(read_layers((bundled_folder("templates"),)))


def faults_of(hint: str = "", page: str = "", schema: str = "user.message.v1") -> list[tuple[str, str, str]]:
    """File, what is wrong and what to do, with this hint or page beside the bundled ones."""
    hints, pages = ({schema: hint} if hint else {}), ({"mine": page} if page else {})
    found = faults(TemplateSet(HINTS | hints, PAGES | pages, LANGUAGES))
    return [(finding.file, finding.problem, finding.fix) for finding in found]


def test_the_bundled_templates_have_no_faults() -> None:
    assert faults_of() == []


@pytest.mark.parametrize(
    ("source", "problem", "fix"),
    [
        ("{{ speaker }}: {{ txet }}", "'txet' is no value of a template", "use text"),
        ("{% if body.never %}{{ txet }}{% endif %}x", "'txet' is no value of a template", "use text"),
        ("{% if body.never %}{{ text | readible }}{% endif %}x", "there is no filter 'readible'", "use readable"),
        ("{% if body.never is definedd %}x{% endif %}x", "there is no test 'definedd'", "use defined"),
        ("U: {{ body.contnt }}", "it fails on an example: it shows nothing of an example's body", "mend the template"),
        ("{{ text.titel }}", "it fails on an example: line 1: 'str object' has no attribute 'titel'", "mend the template"),
        ("{{ text + 1 }}", "it fails on an example: line 1: TypeError: can only concatenate str", "mend the template"),
        ("{{ 'x' * 10**9 }}", "it fails on an example: line 1: it makes more text than a rendering may", "mend the template"),
        (ALL[0], "it fails on an example: line 1: it takes more steps", "mend the template"),
        (" ", "there is nothing in it", "write what is to be shown, or take the file away"),
        ("{{ body.title }}", "it fails on an example: it renders nothing", "mend the template"),
    ],
)
def test_a_hint_that_fails_on_an_example_is_a_fault(source: str, problem: str, fix: str) -> None:
    ((file, said, do),) = faults_of(hint=source)
    assert file == "hints/user.message.v1.md.j2"
    assert said.startswith(problem)
    assert do == fix


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
        ("{{ 'x' * 10**9 }}", "it fails on an example: line 1: it makes more text"),
        ("{% for s in sections %}{{ s.title }}{% endfor %}", "it leaves out fragments of a section"),
        ("{% for s in sections %}{{ s.groups[0].fragments[0] }}{% endfor %}", "it leaves out fragments of a section"),
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
