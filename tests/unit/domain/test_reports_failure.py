"""A failure names the file of its template."""

from builder.domain.reports import Failure


def test_the_file_of_a_failure_is_its_path_in_the_templates_folder() -> None:
    assert Failure(kind="hints", name="note.v1", reason="line 2", instead="the generic hint").file == "hints/note.v1.md.j2"


def test_hints_of_records_are_named_by_their_schema() -> None:
    failed = Failure(kind="llm_hints", name="note.v1", reason="mode", instead="the ordinary hint")
    assert failed.file == "llm_hints of note.v1"
