"""What is published about contexts beside them: folded results."""

from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field

from builder.domain.breadcrumb import CONTEXT_COMPACTED
from builder.domain.context import Compaction, Context

DIGITS = 6
"""Digits of probabilities and signals."""
READ_MODEL = ConfigDict(extra="forbid", frozen=True, from_attributes=True, populate_by_name=True)
"""Made from the class of the same name in `domain/context.py`."""


class CompactionV1(BaseModel):
    """Tool results that were folded to one line each, because the conversation does not fit."""

    model_config = READ_MODEL
    original_tokens: int = Field(description="tokens that the conversation on the page would have without folding")
    compacted_tokens: int = Field(description="tokens that it has with the results folded")
    folded: tuple[str, ...] = Field(description="breadcrumbs whose results were folded, oldest first")
    budget: int = Field(description="tokens that the page may have")


class ContextCompactedV1(CompactionV1):
    """Says that a context was compacted: sent by core NATS once the context is published, best effort, kept by nobody."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "original_tokens": 5120,
                    "compacted_tokens": 2710,
                    "folded": ["t3", "t5"],
                    "budget": 4000,
                    "schema_name": CONTEXT_COMPACTED,
                    "context_id": "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10",
                    "workspace": "default",
                    "consumer_id": "default",
                    "session_id": "s42",
                    "trigger_event_id": "m110",
                }
            ]
        },
    )
    schema_name: str = CONTEXT_COMPACTED
    context_id: str = Field(description="id of the context")
    workspace: str
    consumer_id: str
    session_id: str
    trigger_event_id: str


def encode_compaction(context: Context, compaction: Compaction) -> bytes:
    """The event `context.compacted.v1`."""
    event = ContextCompactedV1(
        **asdict(compaction),
        context_id=str(context.id),
        workspace=context.trigger.workspace,
        consumer_id=context.consumer,
        session_id=context.trigger.session,
        trigger_event_id=context.trigger.id,
    )
    return event.model_dump_json().encode()
