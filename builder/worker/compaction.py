"""The handler of the request `compact`."""

from dataclasses import asdict
from typing import Any

from builder.domain.errors import Misconfigured, Rejected
from builder.wire.requests import CompactRequest
from builder.wire.subjects import check_token
from builder.worker.requests import Host


async def compact(host: Host, workspace: str, request: CompactRequest) -> dict[str, Any]:
    """See `CompactRequest`."""
    check_token(request.session, "session")
    try:
        profile = host.profile(request.profile)
    except Misconfigured as error:
        raise Rejected(str(error)) from error
    return asdict(await host.summaries.compact(workspace, request.session, profile, request.keep_user))
