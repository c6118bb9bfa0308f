"""No engine: contexts are built by words and fields alone, always flagged."""

from builder.domain.errors import Unavailable
from builder.ports.models import NO_MODEL

NONE = NO_MODEL


class NoEmbedder:
    """`Engine` that is never there."""

    model = NONE

    async def ready(self, seconds: float | None = None) -> None:
        """At once: there is nothing to load."""

    async def embed(self, text: str) -> bytes:
        """Raises `Unavailable`."""
        raise Unavailable(
            f"no embedding engine is configured for a text of {len(text)} characters; set CONTEXT_BUILDER_EMBEDDING__ENGINE"
        )

    def close(self) -> None:
        """Nothing to close."""
