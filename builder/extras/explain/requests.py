"""The requests: two of them are for doors with tokens, and answer a user about the user's own contexts."""

from collections.abc import Mapping

from builder.app.access import AccessControl
from builder.extra import Request
from builder.extras.explain import answers
from builder.wire.requests import ReplayRequest

_CONTEXT = {"trigger": "m110", "consumer": "default"}
_CELLS = [{"id": "m110", "state": "whole", "tokens": 9, "tokens_shown": 12}]

REQUESTS: Mapping[str, Request] = {
    "explain": Request(
        model=answers.ExplainRequest,
        answer=answers.Explanation,
        handler=answers.explain,
        right="read",
        narrowing=AccessControl.of_own_context,
        title="Why a page looks as it does",
        description="The page built again, and the reason of each line.",
        example=(_CONTEXT, {"content": "…", "receipt": {}, "times": {"page": 9.0}}),
    ),
    "strip": Request(
        model=answers.StripRequest,
        answer=answers.SessionStrip,
        handler=answers.strip,
        right="read",
        narrowing=AccessControl.of_own_context,
        title="How much of a session is on a page",
        description="One cell a breadcrumb, beside the page built again.",
        example=(_CONTEXT, {"content": "…", "budget": 4000, "cells": _CELLS, "earlier": 0}),
    ),
    "why": Request(model=answers.WhyRequest, answer=answers.Reason, handler=answers.why),
    "replay": Request(model=ReplayRequest, answer=answers.Comparison, handler=answers.replay),
}
"""In the order of the documents."""
