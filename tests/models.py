"""The prepared model for tests: made once a machine, in the place where users have it, and loaded once a process."""

from functools import cache
from pathlib import Path
from typing import Any

from typing_extensions import override

from builder.adapters.embedding import CachedEmbedder, PreparedModel
from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.extras.sentence_transformers.prepare import prepare

MODELS_DIR = Path("~/.cache/context-builder/models").expanduser()


@cache
def prepared() -> PreparedModel:
    """The real int8 model; some 10 s on the first use of a machine, 20 ms later."""
    return prepare(MODELS_DIR)


@cache
def shared_engine() -> OnnxEmbedder:
    """Loading or loaded; who uses it does not close it."""
    return OnnxEmbedder(prepared().folder)


class SharedEmbedder(CachedEmbedder):
    """Stays open for the next one who opens it, with the vectors that it has made."""

    @override
    async def aclose(self) -> None:
        """The process ends it."""


@cache
def _shared() -> SharedEmbedder:
    return SharedEmbedder(shared_engine(), 10_000)


def open_shared(*_: Any, **__: Any) -> CachedEmbedder:
    """In the place of `open_embedder`."""
    return _shared()
