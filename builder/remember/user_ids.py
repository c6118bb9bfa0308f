"""The id of a person in the sender's system; never the name that is displayed."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

MAX_CHARS = 256
_CHARACTERS = r"[^\x00-\x1f\x7f-\x9f]+"
"""Everything but control characters."""

UserId = Annotated[str, Field(min_length=1, max_length=MAX_CHARS, pattern=f"^{_CHARACTERS}$")]


def _usable(value: Any) -> str | None:
    """Other senders may mean something else by this name, so anything but a user id is ignored."""
    is_id = isinstance(value, str) and len(value) <= MAX_CHARS and re.fullmatch(_CHARACTERS, value)
    return value if is_id else None


LenientUserId = Annotated[str | None, BeforeValidator(_usable)]
