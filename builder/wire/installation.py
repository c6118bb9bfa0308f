"""The name of an installation, and what has this name on the broker.

Inside service and client a subject has no name in front: `breadcrumbs.acme.s1.user.message.v1`. On the broker the subjects and
streams of every installation but the default one have it: two streams of an account must not have subjects in common.
"""

import re
from dataclasses import dataclass

from builder.domain.errors import Rejected

DEFAULT_NAME = "context-builder"
HEADS = frozenset({"breadcrumbs", "contexts", "deadletters", "probes", "compactions", "requests", "shadows"})
"""First words of our subjects; no installation has such a name."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class Installation:
    """Names on the broker. Raises `Rejected` for a name that fits no subject."""

    name: str = DEFAULT_NAME
    """1 to 32 of the characters a-z, 0-9, '_' and '-'; the default one stands in front of nothing."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in HEADS:
            raise Rejected(
                f"installation name {self.name[:40]!r} cannot be used; take 1 to 32 of the characters a-z, 0-9, '_' and '-', "
                f"beginning with a letter or a digit, and none of {', '.join(sorted(HEADS))}"
            )

    @property
    def is_default(self) -> bool:
        """Whether subjects and streams have no name in front."""
        return self.name == DEFAULT_NAME

    def subject(self, plain: str) -> str:
        """A subject as the broker knows it. plain: without the name."""
        return plain if self.is_default else f"{self.name}.{plain}"

    def stream(self, kind: str) -> str:
        """A stream as the broker knows it. kind: its name in the default installation, as BREADCRUMBS."""
        return kind if self.is_default else f"{self.name}-{kind}"

    @property
    def durable(self) -> str:
        """The durable of the workers."""
        return self.name

    @property
    def calls_durable(self) -> str:
        """The durable of the time-outs of tool calls."""
        return f"{self.name}-calls"

    @property
    def replays_durable(self) -> str:
        """The durable of imported breadcrumbs."""
        return f"{self.name}-replays"

    @property
    def queue(self) -> str:
        """The queue group that answers requests."""
        return self.name

    @property
    def bucket(self) -> str:
        """The key-value bucket in which workers see each other."""
        return f"{self.name}-workers"


DEFAULT = Installation()


def plain_subject(subject: str) -> str:
    """A subject of a message without the name of its installation."""
    head, _, rest = subject.partition(".")
    return subject if head in HEADS else rest
