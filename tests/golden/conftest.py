"""The real engine, for all golden cases."""

from collections.abc import AsyncIterator

import pytest

from builder.adapters.embedding import CachedEmbedder, open_embedder
from tests.models import MODELS_DIR, prepared


@pytest.fixture
async def embedder() -> AsyncIterator[CachedEmbedder]:
    prepared()
    engine = open_embedder("onnx", "all-MiniLM-L6-v2", MODELS_DIR, 4096)
    await engine.ready()
    yield engine
    await engine.aclose()
