"""The real engine, for all golden cases."""

from collections.abc import AsyncIterator

import pytest
from typing_extensions import override

from builder.adapters.embedding import CachedEmbedder, open_embedder
from builder.ports.models import Embedder
from tests.models import MODELS_DIR, prepared

VECTORS: dict[str, bytes] = {}
"""Every case is built on each store: its texts are embedded once."""


class SharedVectors(Embedder):
    def __init__(self, engine: CachedEmbedder) -> None:
        self._engine = engine

    @property
    @override
    def model(self) -> str:
        return self._engine.model

    @override
    async def embed(self, text: str) -> bytes:
        if text not in VECTORS:
            VECTORS[text] = await self._engine.embed(text)
        return VECTORS[text]


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    prepared()
    engine = open_embedder("onnx", "all-MiniLM-L6-v2", MODELS_DIR, 4096)
    await engine.ready()
    yield SharedVectors(engine)
    await engine.aclose()
