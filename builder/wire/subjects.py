"""Subjects, which decide workspace and session, and the installation, whose name they have on the broker.

NATS permissions are written on subjects. Inside service and client a subject has no name in front, as in
`breadcrumbs.acme.s1.user.message.v1`. On the broker the subjects and streams of every installation but the default one have it:
two streams of an account must not have subjects in common.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from builder.domain.errors import Rejected
from builder.domain.recall import EVERY_SESSION
from builder.wire.json import clean

BREADCRUMBS = "breadcrumbs"
CONTEXTS = "contexts"
COMPACTIONS = "compactions"
REPLAY_HEADER = "Context-Builder-Replay"
FORGOTTEN_HEADER = "Context-Builder-Forgotten"
"""On the stub of a context that was removed because it showed an erased breadcrumb."""
TIMES_HEADER = "Context-Builder-Times"
"""Of a context: milliseconds of each part of its delivery, as `wait=3 catch_up=1 embedding=7 recall=2 page=9`."""
REQUESTS = "requests"
MESSAGE_ID_HEADER = "Nats-Msg-Id"
DEFAULT_NAME = "context-builder"
HEADS = frozenset({"breadcrumbs", "contexts", "deadletters", "probes", "compactions", "requests"})
"""First words of our subjects; no installation has such a name."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCHEMA = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of the subject `breadcrumbs.{workspace}.{session}.{schema}`."""

    workspace: str
    session: str
    schema: str


def check_token(value: str, what: str) -> str:
    """The value if it fits a subject; `Rejected` otherwise."""
    if not _TOKEN.fullmatch(value):
        raise Rejected(
            f"{what} {value[:140]!r} does not fit a NATS subject; use 1 to 128 of the characters A-Z, a-z, 0-9, '_' and '-'"
        )
    return value


def check_schema(value: str) -> str:
    """The schema name if it fits a subject; `Rejected` otherwise."""
    if not _SCHEMA.fullmatch(value):
        raise Rejected(f"schema name {value[:140]!r} does not fit a NATS subject; use words joined by dots, like user.message.v1")
    return value


def breadcrumb_subject(workspace: str, session: str, schema: str) -> str:
    """The subject that a breadcrumb is published on."""
    return ".".join((BREADCRUMBS, check_token(workspace, "workspace"), check_token(session, "session"), check_schema(schema)))


def session_subject(workspace: str, session: str, schema: str = ">") -> str:
    """The filter for the breadcrumbs of one session, or of EVERY_SESSION, of one schema or of all."""
    token = session if session == EVERY_SESSION else check_token(session, "session")
    return f"{BREADCRUMBS}.{check_token(workspace, 'workspace')}.{token}.{schema}"


def parse_breadcrumb_subject(subject: str) -> Address:
    """Read a breadcrumb's subject; `Rejected` when it has another form."""
    head, *rest = subject.split(".", 3)
    if head != BREADCRUMBS or len(rest) != 3:  # noqa: PLR2004 - workspace, session, schema
        raise Rejected(f"subject {subject[:200]!r} is not breadcrumbs.WORKSPACE.SESSION.SCHEMA")
    workspace, session, schema = rest
    return Address(check_token(workspace, "workspace"), check_token(session, "session"), check_schema(schema))


def context_subject(workspace: str, consumer: str, session: str, context_id: str) -> str:
    """The subject of one context; the stream keeps one event on it."""
    return f"{CONTEXTS}.{workspace}.{check_token(consumer, 'consumer')}.{session}.{context_id}"


def request_subject(workspace: str, verb: str) -> str:
    """The subject of a request; the workspace stands in it, so that NATS permissions hold."""
    return ".".join((REQUESTS, check_token(workspace, "workspace"), verb))


def compaction_subject(workspace: str, consumer: str, session: str) -> str:
    """The subject of the event that reports a compaction; no stream keeps it."""
    return f"{COMPACTIONS}.{workspace}.{check_token(consumer, 'consumer')}.{session}"


def message_id(workspace: str, breadcrumb_id: str, version: int) -> str:
    """The `Nats-Msg-Id` of a breadcrumb; percent-encoded because headers are ASCII."""
    return quote(clean(f"{workspace}:{breadcrumb_id}:{version}"), safe=":_-.")


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
        """The key-value bucket of the lock of the purge."""
        return f"{self.name}-workers"


DEFAULT = Installation()


def plain_subject(subject: str) -> str:
    """A subject of a message without the name of its installation."""
    head, _, rest = subject.partition(".")
    return subject if head in HEADS else rest
