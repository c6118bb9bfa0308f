"""The body of `agent.usage.v1`, written by agents and read back from the store."""

from pydantic import ConfigDict, Field, ValidationError
from typing_extensions import override

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.usage import MODEL_TAG, Usage
from builder.remember.schemas.base import Body

MAX_TOKENS = 100_000_000
"""Far more than any model reads, and few enough for a ratio of two of them to be exact."""


class AgentUsageV1(Body):
    """What the provider counted for a page; calibrates the margin of profiles with `calibrate`, and is shown nowhere.

    In session `_` it counts in every session of the workspace, else in its own; never where `counted` is below 100, or `used`
    below half or above twice of it.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "claude-sonnet-4-5-20250929",
                    "counted": 1466,
                    "used": 1741,
                    "context_id": "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10",
                }
            ]
        }
    )
    model: str = Field(min_length=1, max_length=200, description="the model that read it, as its provider calls it")
    counted: int = Field(ge=1, le=MAX_TOKENS, strict=True, description="`token_count` of the `agent.context.v1`")
    used: int = Field(
        ge=1,
        le=MAX_TOKENS,
        strict=True,
        description="tokens that the provider counted for exactly its `content`, nothing beside it",
    )
    context_id: str | None = Field(None, description="`id` of the `agent.context.v1`, for people")

    def usage(self) -> Usage:
        """What it says."""
        return Usage(model=self.model, counted=self.counted, used=self.used)

    @override
    def tags(self, sent: tuple[str, ...]) -> tuple[str, ...]:
        """The sender's, without any that its body decides: which model it is about, and whether it counts."""
        return (*(tag for tag in sent if not tag.startswith(MODEL_TAG)), *self.usage().tags)


def usage(report: Breadcrumb) -> tuple[Usage, ...]:
    """What a stored report says; nothing where it was stored before this schema existed, and is something else."""
    try:
        return (AgentUsageV1.model_validate_json(report.body).usage(),)
    except ValidationError:
        return ()
