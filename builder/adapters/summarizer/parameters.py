"""Which optional parameters a model takes: learnt from what it refuses."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

PARAMETER_CODES = frozenset({400, 422})
"""Answers to a request with a refused parameter."""
THINKING_TOKENS = 8_000
"""Tokens on top of the answer's: `max_completion_tokens` counts what a model thinks, too."""

_REFUSED = re.compile(
    r"unsupported|not (?:supported|permitted|allowed)|does not support|unrecogni[sz]ed|unknown|unexpected|extra|deprecated",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The optional parameters of a request.

    The default is the form that every endpoint has known for years: newer models refuse it by name, and older ones would
    silently ignore the newer name.
    """

    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    """Name of the parameter that limits the answer; "" = none is sent."""
    cold: bool = True
    """Temperature 0 is sent."""

    def values(self, cap: int) -> dict[str, Any]:
        """As they are sent. cap: tokens of the summary."""
        limits = {"max_tokens": 4 * cap, "max_completion_tokens": 4 * cap + THINKING_TOKENS}
        arguments: dict[str, Any] = {self.limit: limits[self.limit]} if self.limit else {}
        return arguments | ({"temperature": 0} if self.cold else {})

    def without_refused(self, data: bytes) -> "Parameters | None":
        """What to send to a model that answered this; None when it does not refuse a parameter of these."""
        refusal = _refusal(data)
        if self.cold and "temperature" in refusal:
            return replace(self, cold=False)
        if self.limit and re.search(rf"\b{self.limit}\b", refusal):
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
