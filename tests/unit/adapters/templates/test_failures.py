"""A failure says which template failed."""

from typing import Any

import pytest

from builder.adapters.templates.failures import Failure


@pytest.mark.parametrize(("kind", "file"), [("hints", "hints/note.v1.md.j2"), ("llm_hints", "llm_hints of note.v1")])
def test_a_failure_names_the_path_of_its_template_or_the_schema_of_its_hints(kind: Any, file: str) -> None:
    assert Failure(kind=kind, name="note.v1", reason="line 2", instead="the generic hint").file == file
