"""Consumers of records: those of all makers, each name once."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from builder.adapters.profiles.profiles import Library
from builder.app.config import ConfigSnapshot
from builder.app.record_makers import RecordMakers
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import Definitions, RecordConsumers
from builder.extra import Extra
from tests.factories import make_profile

CONFIG = cast("ConfigSnapshot", SimpleNamespace(profiles=(make_profile(),), library="the library"))


class Maker:
    """Makes consumers of these names, whatever the records say."""

    def __init__(self, origin: str, *names: str) -> None:
        self._origin = origin
        self._names = names
        self.arguments: tuple[Any, ...] = ()
        self.forgotten = 0

    def __call__(self, definitions: Definitions) -> RecordConsumers:  # noqa: ARG002 - the protocol's
        profiles = tuple(make_profile(consumer=name) for name in self._names)
        finding = LintFinding(file=self._origin, place="", problem="none", fix="")
        return RecordConsumers(profiles=profiles, origins=dict.fromkeys(self._names, self._origin), findings=(finding,))

    def forget(self) -> None:
        self.forgotten += 1

    def at(self, library: Library, names: frozenset[str], report: Callable[[LintFinding], None]) -> "Maker":
        """Itself, as what an extra's function returns."""
        self.arguments = (library, names, report)
        return self


def test_the_first_maker_of_a_name_wins_and_the_findings_of_all_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Maker("one", "atlas", "scout"), Maker("two", "scout", "weather")
    extras = {"one": Extra(consumer_makers={"one": one.at}), "two": Extra(consumer_makers={"two": two.at})}
    monkeypatch.setattr("builder.extra.extras", lambda: extras)
    makers = RecordMakers(CONFIG, print)
    assert one.arguments == two.arguments == ("the library", frozenset({"default"}), print)
    consumers = makers(())
    assert [profile.consumer for profile in consumers.profiles] == ["atlas", "scout", "weather"]
    assert consumers.origins == {"atlas": "one", "scout": "one", "weather": "two"}
    assert [finding.file for finding in consumers.findings] == ["one", "two"]
    makers.forget()
    assert (one.forgotten, two.forgotten) == (1, 1)


def test_without_a_maker_records_define_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.extra.extras", dict)
    assert RecordMakers(CONFIG, print)(()) == RecordConsumers()
