"""Files that people write are bounded, and so is their YAML."""

from pathlib import Path

import pytest
import yaml

from builder.adapters.files import MAX_FILE_BYTES, FaultyFiles, parse_yaml, read_source
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_bytes(b"x" * MAX_FILE_BYTES)
    assert len(read_source(file)) == MAX_FILE_BYTES
    file.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(Misconfigured, match="make it smaller"):
        read_source(file)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "user.message.v1.md.j2"
    file.write_bytes(b"\xef\xbb\xbf- {{ speaker }}")
    assert read_source(file) == "- {{ speaker }}"


def test_yaml_is_read_as_plain_values() -> None:
    assert parse_yaml("budget: 4000\nsections: [{name: tools}]") == {"budget": 4000, "sections": [{"name": "tools"}]}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a: &x [1]\nb: *x", "alias"),
        (f"a: {'9' * 31}", "999 is no plain number; write one of few digits"),
        ("!!python/object:os.system {}", "it has a tag"),
        ("budget: 1\nmodel: x\nbudget: 2", "line 3: 'budget' is there twice; take one out"),
        ("- name: a\n  title: b\n  name: c", "line 3: 'name' is there twice"),
        ("debounce: 0\nage: 1:30:00", "line 2: 1:30:00 is no plain number; write one of few digits, or a text in quotes"),
        ("a: {b: 9:30.5}", "line 1: 9:30.5 is no plain number"),
    ],
)
def test_yaml_that_grows_or_runs_is_refused(source: str, reason: str) -> None:
    with pytest.raises(yaml.YAMLError, match=reason):
        parse_yaml(source)


def test_the_message_of_faulty_files_is_the_first_finding_and_counts_the_others() -> None:
    finding = LintFinding(file="profiles/mine.yaml", place="", problem="it is empty", fix="write one")
    assert str(FaultyFiles([finding])) == str(finding)
    assert str(FaultyFiles([finding] * 3)) == f"{finding} (and 2 more: context-builder profiles lint)"
