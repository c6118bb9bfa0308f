"""Consumers that the records of a workspace define; extras read such records."""

from collections.abc import Callable

from builder.app.config import ConfigSnapshot
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import Definitions, Profile, RecordConsumers
from builder.extra import ConsumerMaker, additions


class RecordMakers:
    """All that are installed, as one."""

    def __init__(self, config: ConfigSnapshot, report: Callable[[LintFinding], None]) -> None:
        """report: called once per finding."""
        names = frozenset(profile.consumer for profile in config.profiles)
        self._makers: list[ConsumerMaker] = [
            make(config.library, names, report) for make in additions("consumer_makers").values()
        ]

    def __call__(self, definitions: Definitions) -> RecordConsumers:
        """Where two makers have one name, the first wins."""
        every = [make(definitions) for make in self._makers]
        profiles: dict[str, Profile] = {}
        origins: dict[str, str] = {}
        for each in every:
            new = [profile for profile in each.profiles if profile.consumer not in profiles]
            profiles |= {profile.consumer: profile for profile in new}
            origins |= {profile.consumer: each.origins[profile.consumer] for profile in new}
        findings = tuple(finding for each in every for finding in each.findings)
        return RecordConsumers(profiles=tuple(profiles.values()), origins=origins, findings=findings)

    def forget(self) -> None:
        """See `ConsumerMaker.forget`."""
        for maker in self._makers:
            maker.forget()
