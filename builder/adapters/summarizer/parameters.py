"""Which optional parameters a model takes: learnt from what it refuses."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

PARAMETER_CODES = frozenset({400, 422})
"""What a request is answered with of which a parameter is refused."""
THINKING = 8_000
"""Tokens on top of the answer's: `max_completion_tokens` counts what a model thinks, too."""

_REFUSED = re.compile(
    r"unsupported|not (?:supported|permitted|allowed)|does not support|unrecogni[sz]ed|unknown|unexpected|extra|deprecated",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """limit: name of the parameter that limits the answer; "" = none is sent. cold: temperature 0 is asked for.

    The first form is the one that every endpoint knew for years. Newer models refuse it by name, older ones would pass over the
    newer name without a word.
    """

    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    cold: bool = True

    def values(self, cap: int) -> dict[str, Any]:
        """As they are sent. cap: tokens of the summary."""
        limits = {"max_tokens": 4 * cap, "max_completion_tokens": 4 * cap + THINKING}
        arguments: dict[str, Any] = {self.limit: limits[self.limit]} if self.limit else {}
        return arguments | ({"temperature": 0} if self.cold else {})

    def without_refused(self, data: bytes) -> "Parameters | None":
        """What to send to a model that answered this; None when it does not refuse a parameter of these."""
        list_session = _refusal(data)
        if self.cold and "temperature" in list_session:
            return replace(self, cold=False)
        if self.limit and re.search(rf"\b{self.limit}\b", list_session):
            return replace(self, limit="max_completion_tokens" if self.limit == "max_tokens" else "")
        return None

    def unlimited(self) -> "Parameters":
        """Without a limit."""
        return replace(self, limit="")


def _refusal(data: bytes) -> str:
    """The parameter that an error names, or its words when they refuse one; "" when it is about something else."""
    try:
        body = json.loads(data)
    except ValueError:
        return ""
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        error = {"message": str(error)}
    words = json.dumps([error.get(name) for name in ("code", "type", "message", "detail")])
    if not _REFUSED.search(words):
        return ""
    parameter = error.get("param")
    return parameter if isinstance(parameter, str) and parameter else words
