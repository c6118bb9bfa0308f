"""A catalogue of phrases: what may replace the bundled entries, and what is refused."""

import re
from pathlib import Path

import pytest

from builder.adapters.templates.folder import TemplateSet, parse_phrases, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.rendering import WHOLE
from builder.domain.errors import Misconfigured
from tests.factories import PHRASES, make_breadcrumb

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
