"""Subjects, and the tokens of sessions in them. `connection/names.py` has the names that the broker knows them by.

NATS permissions are written on subjects.

Any text names a session. Its token in a subject, by a rule for clients in any language:

1. A text of 1 to 128 of the characters A-Z, a-z, 0-9, `_` and `-` is its own token, unless it is what rule 2 makes of some text.
2. Every other text becomes `_x-` and its UTF-8 bytes: A-Z, a-z, 0-9 and `-` stay, each other byte is `_` and two upper-case
   hexadecimal digits. `maya@example.com` is `_x-maya_40example_2Ecom`.
3. When that is longer than 128 characters, the token is `_h-` and the first 40 hexadecimal digits of the text's SHA-256. The text
   cannot be read back from it, so such a token is the name of the session itself wherever a session is given.

Two texts never share a token by rules 1 and 2; by rule 3 only if their SHA-256 have the same first 160 bits.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote

from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.domain.json_values import clean
from builder.domain.recall import EVERY_SESSION

BREADCRUMBS = "breadcrumbs"
CONTEXTS = "contexts"
COMPACTIONS = "compactions"
REQUESTS = "requests"
MAX_TOKEN_CHARS = 128
QUOTED, HASHED = "_x-", "_h-"
HASH_DIGITS = 40
_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_TOKEN_CHARS}}}")
_QUOTED = re.compile(rf"{QUOTED}((?:[A-Za-z0-9-]|_[0-9A-F]{{2}})*)")
_ESCAPE = re.compile(rb"_([0-9A-F]{2})")
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")
_SCHEMA = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}")


@dataclass(frozen=True, slots=True)
class SubjectParts:
    """The parts of the subject `breadcrumbs.{workspace}.{session}.{schema}`."""

    workspace: str
    session: str
    schema: str


def check_token(value: str, what: str) -> str:
    """The value if it fits a subject; `Rejected` otherwise."""
    if not is_token(value):
        raise Rejected(
            f"{what} {value[:140]!r} does not fit a NATS subject; use 1 to 128 of the characters A-Z, a-z, 0-9, '_' and '-'"
        )
    return value


def check_schema(value: str) -> str:
    """The schema name if it fits a subject; `Rejected` otherwise."""
    if not _SCHEMA.fullmatch(value):
        raise Rejected(f"schema name {value[:140]!r} does not fit a NATS subject; use words joined by dots, like user.message.v1")
    return value


@lru_cache(maxsize=1024)
def breadcrumb_subject(workspace: str, session: str, schema: str) -> str:
    """The subject that a breadcrumb is published on."""
    return ".".join((BREADCRUMBS, check_token(workspace, "workspace"), check_token(session, "session"), check_schema(schema)))


def session_subject(workspace: str, session: str, schema: str = ">") -> str:
    """The filter for one session or EVERY_SESSION, and one schema or all."""
    token = session if session == EVERY_SESSION else check_token(session, "session")
    return f"{BREADCRUMBS}.{check_token(workspace, 'workspace')}.{token}.{schema}"


def parse_breadcrumb_subject(subject: str) -> SubjectParts:
    """Read a breadcrumb's subject; `Rejected` when it has another form."""
    head, *rest = subject.split(".", 3)
    if head != BREADCRUMBS or len(rest) != 3:  # noqa: PLR2004 - workspace, session, schema
        raise Rejected(f"subject {subject[:200]!r} is not breadcrumbs.WORKSPACE.SESSION.SCHEMA")
    workspace, session, schema = rest
    return SubjectParts(check_token(workspace, "workspace"), check_token(session, "session"), check_schema(schema))


def context_subject(workspace: str, consumer: str, session: str, context_id: str) -> str:
    """The subject of one context; the stream keeps one event on it."""
    return f"{CONTEXTS}.{workspace}.{check_token(consumer, 'consumer')}.{session}.{context_id}"


def request_subject(workspace: str, name: str, consumer: str = "") -> str:
    """The subject of a request, with the workspace, and the consumer of an agent's own, for NATS permissions."""
    own = (check_token(consumer, "consumer"),) if consumer else ()
    return ".".join((REQUESTS, check_token(workspace, "workspace"), name, *own))


def compaction_subject(workspace: str, consumer: str, session: str) -> str:
    """The subject of compaction events; no stream stores it."""
    return f"{COMPACTIONS}.{workspace}.{check_token(consumer, 'consumer')}.{session}"


def message_id(workspace: str, breadcrumb_id: str, version: int) -> str:
    """The `Nats-Msg-Id` of a breadcrumb; percent-encoded because headers are ASCII."""
    return quote(clean(f"{workspace}:{breadcrumb_id}:{version}"), safe=":_-.")


def is_token(text: str) -> bool:
    """Whether the text fits a subject as it is."""
    return _TOKEN.fullmatch(text) is not None


def session_token(text: str) -> str:
    """The session's token. Raises `Rejected` for an empty text or half a surrogate pair."""
    if not isinstance(text, str):
        raise Rejected(f"session is {shape(text)}; give a text")
    if is_token(text) and session_text(text) == text:
        return text
    if not text:
        raise Rejected("session is an empty text; give the conversation a name, or _ for none")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise Rejected(f"session holds half of a surrogate pair at character {error.start}; give whole characters") from error
    quoted = QUOTED + "".join(chr(byte) if byte in _PLAIN else f"_{byte:02X}" for byte in data)
    return quoted if len(quoted) <= MAX_TOKEN_CHARS else HASHED + sha256(data).hexdigest()[:HASH_DIGITS]


def optional_token(text: str) -> str:
    """The token of a session; "" for ""."""
    return session_token(text) if text else ""


def is_session(claim: object, token: str) -> bool:
    """Whether a claim is this session's token or text."""
    return claim == token or (isinstance(claim, str) and bool(claim) and session_token(claim) == token)


def session_text(token: str) -> str:
    """The text of a session; any other token as it is."""
    quoted = _QUOTED.fullmatch(token)
    if quoted is None:
        return token
    try:
        text = _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), quoted[1].encode()).decode()
    except UnicodeDecodeError:
        return token
    return text if text and session_token(text) == token else token
