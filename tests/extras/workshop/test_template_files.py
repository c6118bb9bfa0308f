"""Files and folders of authors that nobody reads are named; what is none of the service's business is not."""

from pathlib import Path

import pytest

from builder.extras.workshop.template_files import stray_files, untranslated

SCHEMAS = {"user.message.v1", "tool.response.v1"}


def findings(folder: Path, *files: str) -> list[str]:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x", "utf-8")
    return [f"{finding.file}: {finding.fix}" for finding in stray_files(folder, SCHEMAS, {"ticket.v1"})]


@pytest.mark.parametrize(
    ("file", "finding"),
    [
        ("hint/note.v1.md.j2", "hint/: call it hints/"),
        ("mine/note.v1.md.j2", "mine/: its files belong into hints/, pages/, phrases/, presets/, profiles/"),
        ("model.yaml", "model.yaml: call it models.yaml"),
        ("default.yaml", "default.yaml: put it into hints/, pages/, phrases/, presets/, profiles/"),
        ("hints/tool.response.md.j2", "hints/tool.response.md.j2: call it hints/tool.response.v1.md.j2"),
        ("hints/user.mesage.v1.md.j2", "hints/user.mesage.v1.md.j2: call it hints/user.message.v1.md.j2"),
        ("hints/user.message.v1.j2", "hints/user.message.v1.j2: call it hints/user.message.v1.md.j2"),
        ("hints/sub/x.md.j2", "hints/sub/: put its files into hints/"),
        ("profiles/default.yml", "profiles/default.yml: call it profiles/default.yaml"),
        ("phrases/german.yaml", "phrases/german.yaml: call it by its code, such as phrases/de.yaml"),
    ],
)
def test_a_wrong_name_is_told_with_the_right_one(tmp_path: Path, file: str, finding: str) -> None:
    assert findings(tmp_path, file) == [finding]


def test_what_is_read_or_no_template_is_not_told(tmp_path: Path) -> None:
    files = ("hints/ticket.v1.md.j2", "hints/order.placed.v2.md.j2", "hints/generic.md.j2", "pages/mine.md.j2", "models.yaml")
    others = ("phrases/pt-BR.yaml", "README.md", "s42.jsonl", "talks/s43.jsonl", "hints/.note.v1.md.j2.swp", "pages/old.bak")
    assert findings(tmp_path, *files, *others) == []


def test_a_language_of_ones_own_that_lacks_phrases_is_a_note(tmp_path: Path) -> None:
    english = {name: name for name in "abcdefgh"}
    (tmp_path / "phrases").mkdir()
    (tmp_path / "phrases" / "nl.yaml").write_text("a: x\n", "utf-8")
    (tmp_path / "phrases" / "de.yaml").write_text("a: x\n", "utf-8")
    (note,) = untranslated(tmp_path, english, {"en", "de"})
    assert str(note) == (
        "phrases/nl.yaml: note: it lacks b, c, d, e, f and 2 more, which pages have in English; take them from phrases/en.yaml"
    )
