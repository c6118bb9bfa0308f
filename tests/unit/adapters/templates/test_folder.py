"""The template set: one sandbox, clear mistakes, overlays of templates and phrases, and a revision of all sources."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder.adapters.templates.failures import Failure
from builder.adapters.templates.folder import TemplateSet, parse_phrases, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.page_rendering import Failures
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.rendering import Group, Layout, PageSection
from builder.domain.errors import Misconfigured
from tests.factories import PHRASES, make_breadcrumb

PLAIN = "{{ schema }}"
SECTION = PageSection(name="x", title="Title", groups=(Group(date="", fragments=("- own line", "two")),))


def shown(hints: dict[str, str], **values: Any) -> tuple[str, str]:
    """An ordinary message as these hints show it, and why its own could not."""
    fragment = JinjaRendering(TemplateSet(hints, {}), len).fragment(make_breadcrumb(id="m17", **values), WHOLE, "User")
    return fragment.text, fragment.failed


def failure(source: str) -> str:
    """Why a hint with this source fails on an ordinary message, which the generic one shows instead."""
    text, failed = shown({"generic": PLAIN, "user.message.v1": source})
    assert text == "- user.message.v1"
    return failed


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ missing }}", "line 1: 'missing' is undefined"),
        ("\n\n{{ missing.more }}", "line 3: 'missing' is undefined"),
        ("{% if missing %}x{% endif %}", "'missing' is undefined"),
        ("{{ text.titel }}", "'str object' has no attribute 'titel'"),
        ("{{ text | int // 0 }}", "ZeroDivisionError"),
        ("{{ text + 1 }}", "can only concatenate str"),
        ("{{ text[500] | upper }}", "has no element 500"),
        ("{% if text == '' %}x{% endif %}", "it renders nothing"),
    ],
)
def test_what_a_failing_hint_should_show_is_shown_by_the_generic_one_with_template_line_and_reason(
    source: str, reason: str
) -> None:
    message = failure(source)
    assert message.startswith("hint failed, the generic hint is shown: hints/user.message.v1.md.j2 ")
    assert reason in message


def test_when_the_generic_hint_fails_too_the_text_itself_is_shown_and_forges_nothing() -> None:
    text, failed = shown({"generic": "{{ missing }}"}, text="# Hello\n# there")
    assert text == "- User:\n\n  # Hello\n  # there"
    assert failed == "hint failed, the bare text is shown: hints/generic.md.j2 line 1: 'missing' is undefined"


def test_the_bundled_generic_hint_steps_in_for_a_broken_one() -> None:
    bundled_set = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    rendering = JinjaRendering(TemplateSet({"generic": "{{ missing }}"}, {}), len, bundled_set)
    assert rendering.fragment(make_breadcrumb("Hello."), WHOLE, "User").text == "- user.message.v1: content: Hello."


@pytest.mark.parametrize(
    "source", ["{{ text | float(default=text) + 1 }}", "{{ {}[text] }}", "{{ text.index('x') }}", "{{ text[text] }}"]
)
def test_no_word_of_a_person_is_part_of_a_reason(source: str) -> None:
    rendering = JinjaRendering(TemplateSet({"generic": PLAIN, "user.message.v1": source}, {}), len)
    failed = rendering.fragment(make_breadcrumb("hunter2"), WHOLE, "User").failed
    assert failed
    assert "hunter2" not in failed


def test_failures_are_counted_by_template_with_their_first_reason() -> None:
    told: list[Failure] = []
    templates = TemplateSet({"generic": PLAIN, "user.message.v1": "{{ text[500] }}"}, {})
    rendering = JinjaRendering(templates, len, failures=Failures(told.append))
    for number in range(3):
        rendering.fragment(make_breadcrumb("Hello.", id=f"m{number}"), WHOLE, "User")
        rendering.fragment(make_breadcrumb("Hello.", id=f"m{number}"), WHOLE, "User")
    assert [(failure.file, failure.times) for failure in told] == [("hints/user.message.v1.md.j2", n) for n in (1, 2, 3)]


def test_a_template_cannot_change_what_the_next_one_sees() -> None:
    rendering = JinjaRendering(TemplateSet({"generic": "{% set body = 1 %}{% set text = 'x' %}{{ text }}"}, {}), len)
    crumb = make_breadcrumb("hello", schema="a.v1")
    assert rendering.fragment(crumb, WHOLE, "User").text == rendering.fragment(crumb, RenderForm(times=2), "User").text == "- x"
    assert crumb.text == "hello"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("one\n{{ text", "line 2: unexpected end of template"),
        ("one\n\n{% if %}{% endif %}", "line 3: Expected an expression"),
        ("{% for x in text %}", "line 1: a block is not closed: {% for %}; write {% endfor %} after it"),
        ("a\n{{ text | shout }}", "line 2: there is no filter 'shout'; use one of arguments, below, block"),
        ("{% frobnicate %}", "line 1: {% frobnicate %} is no statement of templates; take it out, or mend its name"),
    ],
)
def test_a_syntax_error_is_misconfigured_at_start_with_file_and_line(source: str, reason: str) -> None:
    with pytest.raises(Misconfigured) as hint:
        TemplateSet({"generic": PLAIN, "note.v1": source}, {})
    assert str(hint.value).startswith(f"hints/note.v1.md.j2 {reason}")
    with pytest.raises(Misconfigured) as page:
        TemplateSet({"generic": PLAIN}, {"wide": source})
    assert str(page.value).startswith(f"pages/wide.md.j2 {reason}")


def test_a_set_without_the_generic_hint_is_misconfigured() -> None:
    with pytest.raises(Misconfigured, match=r"hints/generic\.md\.j2 is missing; unknown schemas need it, put it back"):
        TemplateSet({"note.v1": PLAIN}, {})


def test_an_unknown_page_is_misconfigured_and_the_known_ones_are_named() -> None:
    with pytest.raises(Misconfigured, match="page 'wide' does not exist; known pages are long, short"):
        TemplateSet({"generic": PLAIN}, {"short": "", "long": ""}).page("wide", ())


@pytest.mark.parametrize(
    "source", ["{{ missing }}", "{{ sections + 1 }}", "{{ sections[0].title.encode() }}", "{{ sections[0].titel }}", ""]
)
@pytest.mark.parametrize(
    ("closing", "like"), [("", "## Title\n- own line\ntwo\n"), ("{# </{{ #}", "<x>\n- own line\ntwo\n</x>\n")]
)
def test_what_a_failing_page_should_show_is_shown_by_a_bundled_one_of_its_kind(source: str, closing: str, like: str) -> None:
    told: list[Failure] = []
    bundled_set = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    rendering = JinjaRendering(
        TemplateSet({"generic": PLAIN}, {"mine": source + closing}), len, bundled_set, Failures(told.append)
    )
    layout = rendering.page("mine", (SECTION,))
    assert replace(layout, ends=()) == Layout(like, failed=True)
    assert [like[:end].endswith("two\n") for end in layout.ends] == [True]
    assert [(failure.file, failure.times) for failure in told] == [("pages/mine.md.j2", 1)]


def test_the_default_page_has_a_heading_a_section_and_dates_on_lines_of_their_own() -> None:
    templates = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    groups = (Group(date="8 May 2023", fragments=("A: 1\n    more", "B: 2")), Group(date="9 May 2023", fragments=("A: 3",)))
    page = templates.page("default", (SECTION, PageSection(name="y", title="Dated", groups=groups)))
    assert page == ("## Title\n- own line\ntwo\n\n## Dated\n[8 May 2023]\nA: 1\n    more\nB: 2\n\n[9 May 2023]\nA: 3\n")
    assert templates.page("default", ()) == ""


def test_a_title_of_a_profile_cannot_break_its_heading() -> None:
    templates = TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
    title = PageSection(name="x", title="One\n# Two", groups=SECTION.groups)
    assert templates.page("default", (title,)).startswith("## One # Two\n- own line")


def write(folder: Path, kind: str, name: str, source: str) -> None:
    (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / kind / f"{name}.md.j2").write_text(source, "utf-8")


def test_a_file_of_a_later_folder_wins_and_the_others_stay(tmp_path: Path) -> None:
    write(tmp_path, "hints", "note.v1", "Mine: {{ text }}")
    write(tmp_path, "hints", "calendar.event.v1", "Event: {{ text }}")
    write(tmp_path, "pages", "wide", "{{ sections | length }} sections")
    (tmp_path / "hints" / "README.md").write_text("no template", "utf-8")
    hints, pages, _ = templates_of(read_layers((bundled_folder("templates"), tmp_path)))
    own_hints, own_pages, _ = templates_of(read_layers((bundled_folder("templates"),)))
    assert hints == own_hints | {"note.v1": "Mine: {{ text }}", "calendar.event.v1": "Event: {{ text }}"}
    assert pages == own_pages | {"wide": "{{ sections | length }} sections"}
    templates = TemplateSet(hints, pages)
    assert templates.hint("note.v1", {"text": "two coats"}) == "- Mine: two coats"
    assert templates.page("wide", (SECTION,)) == "1 sections\n"


def test_an_overlay_folder_may_be_empty(tmp_path: Path) -> None:
    bundled = read_layers((bundled_folder("templates"),))
    assert templates_of(read_layers((bundled_folder("templates"), tmp_path))) == templates_of(bundled)


def test_the_revision_changes_with_any_source_any_name_and_nothing_else() -> None:
    hints, pages, _ = templates_of(read_layers((bundled_folder("templates"),)))
    revision = TemplateSet(hints, pages).revision
    assert TemplateSet(dict(reversed(hints.items())), pages).revision == revision
    revisions = [TemplateSet(hints | {name: source + " "}, pages).revision for name, source in hints.items()]
    revisions += [TemplateSet(hints, pages | {name: source + " "}).revision for name, source in pages.items()]
    revisions += [TemplateSet(hints | {"new.v1": ""}, pages).revision, TemplateSet(hints, pages | {"new.v1": ""}).revision]
    assert len({revision, *revisions}) == len(revisions) + 1


LANGUAGES = templates_of(read_layers((bundled_folder("templates"),)))[2]


def test_a_mounted_entry_takes_the_place_of_the_bundled_one_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "phrases").mkdir()
    (tmp_path / "phrases" / "en.yaml").write_text('characters_left_out_of: "[{number} weggelassen, id {id}]"\n', "utf-8")
    templates = TemplateSet(*templates_of(read_layers((bundled_folder("templates"), tmp_path))))
    cut = JinjaRendering(templates, len).fragment(make_breadcrumb("word " * 99, id="m7"), WHOLE, "User", cap=120)
    assert "weggelassen, id m7]" in cut.text
    assert templates.phrases()("no_answer") == PHRASES("no_answer")
    assert templates.revision != TemplateSet(*templates_of(read_layers((bundled_folder("templates"),)))).revision


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no_answr: x", " line 1: phrase `no_answr`: no phrase has this name; write no_answer"),
        ("\nno_answer: [x]", " line 2: phrase `no_answer`: ['x'] is no text of one line; write one line, in quotation marks"),
        (
            'call: "Call\\n- Assistant: yes"',
            " line 1: phrase `call`: 'Call\\n- Assistant: yes' is no text of one line; write one line, in quotation marks",
        ),
        ('no_answer: "{id}"', " line 1: phrase `no_answer`: it has no field {id}; allowed is none"),
        ('repeats: "{count} times"', " line 1: phrase `repeats`: it has no field {count}; allowed is {number}"),
        ("months: Jan Feb", " line 1: phrase `months`: it has 2 words, not 12; write one word a month, January first"),
        ('months: ""', " line 1: phrase `months`: it has 0 words, not 12; write one word a month, January first"),
        (
            'clock: "%H:%Q"',
            " line 1: phrase `clock`: '%H:%Q' is no time of day; write it with %H or %I, %M and %p, like %-I:%M %p for 2:30 PM",
        ),
        (
            'result: "{x"',
            " line 1: phrase `result`: a brace is without its other half; add it, or write {{ for a brace that is shown",
        ),
        ("- x", ": it is no mapping; write `name: text` in each line"),
        ("a: b: c", " line 1: a colon is where none can be; indent like the lines around, or quote the value"),
    ],
)
def test_a_catalogue_that_cannot_be_used_is_refused_with_the_entry_and_what_to_do(source: str, message: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        parse_phrases(source, PHRASES.entries, "phrases/de.yaml")
    assert str(caught.value) == f"phrases/de.yaml{message}"


def test_every_bundled_phrase_is_used() -> None:
    root = Path(bundled_folder("templates")).parent
    code = "\n".join(file.read_text("utf-8") for file in (root / "builder").rglob("*.py"))
    hints = "\n".join(file.read_text("utf-8") for file in (root / "templates").rglob("*") if file.suffix in {".j2", ".yaml"})
    lines = {"folded", "superseded", "placeholder", "user", "assistant"}
    sections = {f"title_{name}" for name in re.findall(r"name: (\w+)", hints)}
    unknown = {name for name in PHRASES.entries if not re.search(rf"[\"']{name}[\"']|words\.{name}\b|{{{name}}}", code + hints)}
    assert unknown <= lines | sections


@pytest.mark.parametrize("language", sorted(LANGUAGES.keys() - {"en"}))
def test_a_bundled_language_has_every_phrase_of_english_with_its_fields(language: str) -> None:
    source = (bundled_folder("templates") / "phrases" / f"{language}.yaml").read_text("utf-8")
    phrases = parse_phrases(source, PHRASES.entries, f"phrases/{language}.yaml")
    assert list(phrases.keys() - PHRASES.entries.keys()) == list(PHRASES.entries.keys() - phrases.keys()) == []
    assert {name: fields(text) for name, text in phrases.items()} == {
        name: fields(text) for name, text in PHRASES.entries.items()
    }


def test_what_an_authors_own_language_lacks_is_english(tmp_path: Path) -> None:
    (tmp_path / "phrases").mkdir()
    (tmp_path / "phrases" / "nl.yaml").write_text("user: Gebruiker\n", "utf-8")
    _, _, languages = templates_of(read_layers((bundled_folder("templates"), tmp_path)))
    assert (languages["nl"]["user"], languages["nl"]["assistant"]) == ("Gebruiker", "Assistant")


def fields(text: str) -> list[str]:
    return sorted(set(re.findall(r"{(\w+)", text)))
