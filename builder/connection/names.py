"""Names on the broker: headers, and the installation, whose name subjects and streams have.

Inside service and client a subject has no name in front, as in `breadcrumbs.acme.s1.user.message.v1`. On the broker the subjects
and streams of every installation but the default one have it: two streams of an account must not have subjects in common.
"""

import re
from dataclasses import dataclass

from builder.domain.errors import Rejected

REPLAY_HEADER = "Context-Builder-Replay"
FORGOTTEN_HEADER = "Context-Builder-Forgotten"
"""Marks the stub of a context that showed an erased breadcrumb."""
TIMES_HEADER = "Context-Builder-Times"
"""Milliseconds of a context's parts: `wait=3 catch_up=1 embedding=7 recall=2 page=9`."""
MESSAGE_ID_HEADER = "Nats-Msg-Id"
DEFAULT_NAME = "context-builder"
HEADS = frozenset({"breadcrumbs", "contexts", "deadletters", "probes", "compactions", "requests"})
"""First words of our subjects; no installation has such a name."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class Installation:
    """Names on the broker. Raises `Rejected` for an invalid name."""

    name: str = DEFAULT_NAME
    """1 to 32 of a-z, 0-9, '_', '-'; the default is no prefix. The workers' durable has it, and the queue group that answers."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in HEADS:
            raise Rejected(
                f"installation name {self.name[:40]!r} cannot be used; take 1 to 32 of the characters a-z, 0-9, '_' and '-', "
                f"beginning with a letter or a digit, and none of {', '.join(sorted(HEADS))}"
            )

    def subject(self, plain: str) -> str:
        """A subject as the broker knows it. plain: without the name."""
        return plain if self.name == DEFAULT_NAME else f"{self.name}.{plain}"

    def stream(self, kind: str) -> str:
        """The stream's name on the broker. kind: e.g. BREADCRUMBS."""
        return kind if self.name == DEFAULT_NAME else f"{self.name}-{kind}"

    @property
    def calls_durable(self) -> str:
        """The durable of the time-outs of tool calls."""
        return f"{self.name}-calls"

    @property
    def replays_durable(self) -> str:
        """The durable of imported breadcrumbs."""
        return f"{self.name}-replays"

    @property
    def bucket(self) -> str:
        """The key-value bucket of the lock of the purge."""
        return f"{self.name}-workers"


DEFAULT = Installation()


def plain_subject(subject: str) -> str:
    """A subject of a message without the name of its installation."""
    head, _, rest = subject.partition(".")
    return subject if head in HEADS else rest
