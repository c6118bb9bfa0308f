"""No engine: contexts are built by words and fields alone, always flagged."""

from typing_extensions import override

from builder.adapters.embedding.engine import Engine
from builder.domain.errors import Unavailable
from builder.ports.models import NO_MODEL

NONE = NO_MODEL


class NoEmbedder(Engine):
    """`Engine` that is never there."""

    @property
    @override
    def model(self) -> str:
        return NONE

    @override
    async def ready(self, seconds: float | None = None) -> None:
        """Return at once: there is nothing to load."""

    @override
    async def embed(self, text: str) -> bytes:
        raise Unavailable(
            f"no embedding engine is configured for a text of {len(text)} characters; set CONTEXT_BUILDER_EMBEDDING__ENGINE"
        )

    @override
    def close(self) -> None:
        """Do nothing."""
