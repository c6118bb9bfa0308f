"""What an operator is told about the code that runs."""

from builder.app.telemetry import code_revision


def test_the_revision_of_the_code_begins_with_the_version() -> None:
    assert code_revision().startswith("0.")
    assert code_revision() == code_revision()
