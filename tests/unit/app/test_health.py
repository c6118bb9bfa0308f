"""What an operator is told about the store and the engine."""

import pytest

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.embedding.engine import NoEmbedder
from builder.app.health import LOW_BYTES, model_state, store_state
from tests.stores import DurableStore


class Disk(DurableStore):
    """A store with so much room, whose last write failed for this reason."""

    def __init__(self, free: int | None, reason: str = "") -> None:
        super().__init__()
        self._free = free
        self._reason = reason

    @property
    def refusal(self) -> str:
        return self._reason

    def free_bytes(self) -> int | None:
        return self._free


@pytest.mark.parametrize("free", [None, LOW_BYTES])
async def test_a_store_with_room_or_of_unknown_room_is_well(free: int | None) -> None:
    assert await store_state(Disk(free)) == ""


async def test_little_room_is_reported_before_the_first_write_fails() -> None:
    assert await store_state(Disk(LOW_BYTES - 1)) == "the store has 100 MB left; free some, or set CONTEXT_BUILDER_DATA_DIR"


async def test_a_write_that_failed_is_reported_first() -> None:
    assert await store_state(Disk(0, "the disk is full")) == "the disk is full"


async def test_an_engine_that_embeds_nothing_says_why() -> None:
    assert "no embedding engine is configured" in await model_state(CachedEmbedder(NoEmbedder(), 1))
