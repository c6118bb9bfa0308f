"""Three families of errors, because there are three things to do.

BuilderError
├── Rejected        the event can never succeed         → dead letter, no retry
│   └── ChainTooLong    so that it is counted           → the same
├── Unavailable     a dependency cannot serve right now → retry with growing delay
└── Misconfigured   wrong before the first event        → exit 78, the loop never starts

Wording: what happened, the value, what to do.
"""


class BuilderError(Exception):
    """Base of everything this service raises on purpose."""


class Rejected(BuilderError):  # noqa: N818 - named after what happens next, not after what it is
    """The event can never succeed: it goes to the dead letters with this reason."""


class ChainTooLong(Rejected):
    """The trigger is the end of a causal chain longer than a consumer allows: a loop of agents is stopped and counted."""


class Unavailable(BuilderError):  # noqa: N818
    """Store, engine or broker cannot serve now: the delivery is retried later."""


class Misconfigured(BuilderError):  # noqa: N818
    """Settings, template, profile, model or store are wrong: the process ends with exit code 78."""


class AlreadyPublished(BuilderError):  # noqa: N818
    """The server refused a second context for the same trigger and consumer: the first one stands."""


class HintFailed(BuilderError):  # noqa: N818
    """A hint template could not render a breadcrumb: it costs that fragment and becomes an omission."""

    def __init__(self, breadcrumb: str, reason: str) -> None:
        super().__init__(reason)
        self.breadcrumb = breadcrumb
