"""A catalogue of phrases: what may replace the bundled entries, and what is refused."""

from pathlib import Path

import pytest

from builder.adapters.templates.folder import TemplateSet, read_folders
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.phrases import parse_phrases
from builder.app.resources import bundled_folder
from builder.assemble.items.forms import WHOLE
from builder.domain.errors import Misconfigured
from tests.factories import PHRASES, make_breadcrumb


def test_a_mounted_entry_takes_the_place_of_the_bundled_one_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "phrases").mkdir()
    (tmp_path / "phrases" / "en.yaml").write_text('characters_left_out_of: "[{number} weggelassen, id {id}]"\n', "utf-8")
    templates = TemplateSet(*read_folders((bundled_folder("templates"), tmp_path)))
    cut = JinjaRendering(templates, len).fragment(make_breadcrumb("word " * 99, id="m7"), WHOLE, "User", cap=120)
    assert "weggelassen, id m7]" in cut.text
    assert templates.phrases("no_answer") == PHRASES("no_answer")
    assert templates.revision != TemplateSet(*read_folders((bundled_folder("templates"),))).revision


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("no_answr: x", "'no_answr' is not the name of a phrase"),
        ("no_answer: [x]", "'no_answer' is no text"),
        ('no_answer: "{id}"', "'no_answer' may have the fields [] only"),
        ("months: January February", "'months' has 2 words, not 12; begin with January"),
        ('months: ""', "'months' has 0 words"),
        ('other_calls: "{number"', "'other_calls' has a brace without its other half"),
        ("- x", "it maps a name to a text"),
        ("a: b: c", "is not readable"),
    ],
)
def test_a_catalogue_that_cannot_be_used_is_refused_with_the_entry_and_what_to_do(source: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason.replace("[", r"\[").replace("]", r"\]")):
        parse_phrases(source, PHRASES.entries)


def test_every_bundled_phrase_is_used() -> None:
    code = "\n".join(file.read_text("utf-8") for file in Path(bundled_folder("templates")).parent.rglob("builder/**/*.py"))
    lines = {"folded", "superseded", "placeholder", "user", "assistant"}
    assert {name for name in PHRASES.entries if f'"{name}"' not in code and f"'{name}'" not in code} <= lines
