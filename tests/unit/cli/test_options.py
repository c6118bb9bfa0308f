"""What commands share: settings, the broker, and how they print."""

import gzip
from pathlib import Path

import pytest

from builder.app.console import progress_bar, settings, show
from builder.cli.options import lines_of, target_of
from builder.domain.errors import Misconfigured, Rejected


def test_programs_get_json_alone_and_people_text_on_standard_output_and_notes_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show({"text": "Käse"}, as_json=True, text="for people", note="a note")
    assert capsys.readouterr() == ('{\n  "text": "Käse"\n}\n', "")
    show({}, as_json=False, text="page\n", note="sent")
    assert capsys.readouterr() == ("page\n", "sent\n")
    show({}, as_json=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("CONTEXT_BUILDER_WORKER__BATCH", "many", r"CONTEXT_BUILDER_WORKER__BATCH: .*got 'many'"),
        ("CONTEXT_BUILDER_LIFETIMES", "{", "lifetimes.*write JSON, or unset it"),
    ],
)
def test_a_wrong_setting_is_named(variable: str, value: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(Misconfigured, match=reason):
        settings()


def test_a_target_has_the_settings_workspace_unless_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CONTEXT_BUILDER_WORKSPACE", "acme")
    assert target_of("nats://a:4222").workspace == "acme"
    assert target_of("nats://a:4222", "globex").workspace == "globex"
    assert target_of("nats://a:4222").servers == "nats://a:4222"


def test_a_guessed_broker_is_announced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_DATA_DIR", str(tmp_path))
    address = target_of("").address
    assert address.guess
    assert capsys.readouterr().err == f"{address.guess}\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_file_is_read_in_its_encoding_also_where_its_last_character_is_cut(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes('{"a": 1}\n{"b": "ö"}é'.encode(encoding)[:-1])
    assert next(lines_of(file)) == '{"a": 1}'


def test_half_of_a_pair_in_utf_16_stays_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes('{"a": "\ud83d"}\n'.encode("utf-16", "surrogatepass"))
    assert next(lines_of(file)) == '{"a": "\ud83d"}'


def test_a_packed_file_is_named_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl.gz").write_bytes(gzip.compress(b'{"role": "user"}'))
    with pytest.raises(Rejected, match="is packed; unpack it"):
        lines_of(tmp_path / "chat.jsonl.gz")


@pytest.mark.parametrize(
    ("every", "lines"),
    [(0.0, ["latency: 1 of 1,400", "latency: 2 of 1,400", "latency: 3"]), (3600.0, [])],
)
def test_long_work_says_how_far_it_is_where_nobody_sees_a_bar(
    every: float, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("latency", every=every) as move:
        for done, total in ((1, 1400), (2, 1400), (3, 0)):
            move(done, total)
    assert capsys.readouterr().err.splitlines() == lines


def test_long_work_on_a_terminal_has_a_bar_and_no_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("latency", every=0) as move:
        move(1, 2)
    said = capsys.readouterr().err
    assert "50%" in said
    assert "latency: " not in said
