"""The real engine, for all golden cases."""

from collections.abc import AsyncIterator

import pytest_asyncio

from builder.adapters.embedding import CachedEmbedder, open_embedder
from tests.models import MODELS_DIR, prepared


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedder() -> AsyncIterator[CachedEmbedder]:
    """One engine for all cases: they are built on each store, and its cache has a text that it embedded."""
    prepared()
    engine = open_embedder("onnx", "all-MiniLM-L6-v2", MODELS_DIR, 4096)
    await engine.ready()
    yield engine
    await engine.aclose()
