"""The sender of a request: its rights by verb, and what it sees if it is one person."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from builder.domain.breadcrumb import NO_SESSION, USER_MESSAGE, Breadcrumb
from builder.domain.errors import Forbidden

Right = Literal["read", "write", "forget", "export"]
RIGHTS: Mapping[str, Right] = MappingProxyType(
    {
        "compact": "write",
        "consumers": "read",
        "context": "read",
        "explain": "read",
        "fetch": "read",
        "forget": "forget",
        "history": "read",
        "search": "read",
        "sessions": "read",
        "strip": "read",
    }
)
"""Verb → the right that it needs. Doors with rights offer no other verbs."""
NOTE = "note.v1"
OF_A_PERSON = frozenset({USER_MESSAGE, NOTE})
"""Schemas that a person writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request, as a door knows it."""

    name: str
    workspace: str
    user: str = ""
    """The only person that it sees and writes for; "" = everybody."""
    rights: frozenset[Right]

    def need(self, right: Right) -> None:
        """Raises `Forbidden`."""
        if right not in self.rights:
            raise Forbidden(
                f"this token has the rights {', '.join(sorted(self.rights))}, and this needs {right}; use another token"
            )

    def may_see(self, crumb: Breadcrumb) -> bool:
        """Whether the breadcrumb is in a session that it may read, or in none."""
        return self.sees(crumb.schema, crumb.session, crumb.user_id, is_own=crumb.session != NO_SESSION)

    def sees(self, schema: str, session: str, user: str, *, is_own: bool) -> bool:
        """Whether a breadcrumb is shown. user: its `user_id`. is_own: of its session."""
        is_note = schema == NOTE and session == NO_SESSION
        return not self.user or user == self.user or is_note or (is_own and not user)
