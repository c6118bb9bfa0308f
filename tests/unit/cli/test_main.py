"""The command's exit codes, and one sentence for each error of ours."""

import sys

import pytest

from builder import cli
from builder.cli.registry import COMMANDS, application
from builder.domain.errors import BuilderError, Misconfigured, Rejected, Unavailable
from builder.extra import additions


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command that raises the error."""

    def command() -> None:
        raise error

    monkeypatch.setattr(sys, "argv", ["context-builder", "doctor"])
    monkeypatch.setattr(cli.registry, "application", command)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(str(caught.value.code))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Rejected("no"), 65),
        (Unavailable("no"), 69),
        (BuilderError("no"), 69),
        (Misconfigured("no"), 78),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_family_of_errors_has_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fails_with(error, monkeypatch) == code
    assert capsys.readouterr().err.startswith("context-builder: ")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert fails_with(ModuleNotFoundError("no", name="apsw"), monkeypatch) == 78
    assert "the extra `service`" in capsys.readouterr().err


def test_a_missing_module_of_ours_is_a_bug_with_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError):
        fails_with(ModuleNotFoundError("no", name="builder.nowhere"), monkeypatch)


def test_every_command_has_a_help_text() -> None:
    every, groups = {**COMMANDS, **additions("commands")}, additions("groups")
    commands = [*every.values(), *(command for _, group in groups.values() for command in group.values())]
    assert [command.__name__ for command in commands if not command.__doc__] == []
    assert len(application.registered_commands) == len(every)
    assert len(application.registered_groups) == len(groups)
