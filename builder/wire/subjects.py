"""Subjects, which decide workspace and session; NATS permissions are written on them."""

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
REQUESTS = "requests"
SHADOWS = "shadows"
MESSAGE_ID_HEADER = "Nats-Msg-Id"

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCHEMA = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}")


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
