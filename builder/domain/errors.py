"""Three families of errors, because there are three things to do.

BuilderError
├── Rejected        the event can never succeed         → dead letter, no retry
│   ├── ChainTooLong    so that it is counted           → the same
│   ├── NoContext       the same                        → the same
│   ├── Missing         what a request names is not there, or is not for its sender
│   ├── Forbidden       its sender lacks a right
│   └── NoMoreAttempts  the same                        → the same
├── Unavailable     a dependency cannot serve right now → retry with growing delay
└── Misconfigured   wrong before the first event        → exit 78, the loop never starts

Wording: what happened, the value, what to do.
"""

from typing import ClassVar

MAX_MESSAGE_CHARS = 2_000
"""A message is cut to so much: it is in logs, in answers and on a terminal, whatever was sent or written."""


def installation(extra: str) -> str:
    """The remedy for a missing package. extra: of pyproject.toml."""
    return f"run pip install '.[{extra}]' in a clone of the repository"


class BuilderError(Exception):
    """Base of all errors raised on purpose. Its message is one bounded line."""

    def __init__(self, message: str = "") -> None:
        half = MAX_MESSAGE_CHARS // 2
        bounded = message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:half]} … {message[-half:]}"
        super().__init__(" ".join(bounded.split()))


class Rejected(BuilderError):  # noqa: N818 - named after what happens next, not after what it is
    """The event can never succeed: it becomes a dead letter."""

    kind: ClassVar[str] = "content"
    """Kind of the reason, for the metrics."""


class ChainTooLong(Rejected):
    """The causal chain is longer than a consumer allows: a loop of agents is stopped and counted."""

    kind = "chain"


class NoContext(Rejected):
    """A consumer gets no context, because none can be made or published."""

    kind = "context"


class Missing(Rejected):
    """A request names something that is not there, or is not for its sender: both read the same."""


class Forbidden(Rejected):
    """The sender of a request lacks a right."""


class NoMoreAttempts(Rejected):
    """Every attempt ended in a crash or a bug."""

    kind = "attempts"


class Unavailable(BuilderError):  # noqa: N818
    """Store, engine or broker cannot serve now: the delivery is retried."""


class Misconfigured(BuilderError):  # noqa: N818
    """Settings, files, model or store are wrong: the process exits with 78."""


class AlreadyPublished(BuilderError):  # noqa: N818
    """The server refused a second context for one trigger and consumer."""
