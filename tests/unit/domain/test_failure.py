"""A failure names the file of its template."""

from builder.domain.failure import Failure


def test_the_file_of_a_failure_is_its_path_in_the_templates_folder() -> None:
    assert Failure(kind="hints", name="note.v1", reason="line 2", instead="the generic hint").file == "hints/note.v1.md.j2"
