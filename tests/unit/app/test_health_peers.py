"""Which worker this is."""

from pathlib import Path

from builder.app.health import code_revision, worker_id


def test_a_worker_has_the_id_of_its_data_folder(tmp_path: Path) -> None:
    one = worker_id(tmp_path / "one")
    assert worker_id(tmp_path / "one") == one
    assert worker_id(tmp_path / "other") != one


def test_a_folder_that_takes_no_file_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    assert len(worker_id(tmp_path / "file" / "data")) == 8


def test_the_revision_of_the_code_begins_with_the_version() -> None:
    assert code_revision().startswith("0.")
    assert code_revision() == code_revision()
