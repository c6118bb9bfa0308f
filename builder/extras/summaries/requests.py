"""The request `compact`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from builder.app.access import AccessControl
from builder.domain.summary import CompactionResult
from builder.extra import SUMMARISING, Host, Request
from builder.wire.subjects import check_token


class CompactRequest(BaseModel):
    """Summarise all but the tail of a session at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    session: str = Field(min_length=1, description="the session")
    profile: str = Field("default", description="profile whose `summaries` hold")
    keep_user: bool = Field(True, strict=True, description="what people said stays word for word")


async def compact(host: Host, workspace: str, request: CompactRequest) -> dict[str, Any]:
    """See `CompactRequest`."""
    check_token(request.session, "session")
    profile = host.profile(request.profile)
    return asdict(await host.jobs[SUMMARISING].compact(workspace, request.session, profile, request.keep_user))


REQUESTS: Mapping[str, Request] = {
    "compact": Request(
        model=CompactRequest,
        answer=CompactionResult,
        handler=compact,
        right="write",
        narrowing=AccessControl.of_own_session,
        title="Summarise all but a session's end",
        description="The messages stay.",
        example=({"session": "s42"}, {"units": 0, "summary": "", "reason": "there is nothing to summarise"}),
    )
}
