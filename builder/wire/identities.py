"""Requests for the meaning of ids, and their answers."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from builder.domain.identity import Identity
from builder.wire.requests import StrictRequest

MAX_IDS = 20_000
"""Most ids of a request: with ids of 36 characters it has fewer bytes than the smallest limit of a broker."""
_IDENTITIES = TypeAdapter(dict[str, Identity])


class IdentitiesRequest(StrictRequest):
    """Which of these ids are taken, and by what, or closed. `import` asks before it publishes."""

    ids: tuple[Annotated[str, Field(min_length=1, max_length=256)], ...] = Field(
        max_length=MAX_IDS, description="ids of breadcrumbs"
    )


def identities_json(identities: Mapping[str, Identity]) -> dict[str, Any]:
    """Those that are known."""
    entries = {name: each for name, each in identities.items() if each.first or each.marks}
    return {"identities": _IDENTITIES.dump_python(entries, mode="json")}
