"""Engines: text → unit vectors, opened by name. Nothing is downloaded."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from builder.adapters.embedding.cache import PLAIN, CachedEmbedder, Side
from builder.adapters.embedding.engine import Endpoint, Engine, NoEmbedder
from builder.adapters.embedding.prepared import DESCRIPTION, NAMES, PreparedModel, list_models
from builder.domain.errors import Misconfigured, installation
from builder.ports.models import NO_MODEL

__all__ = ["CachedEmbedder", "Endpoint", "PreparedModel", "list_models", "open_embedder"]

EngineOpener = Callable[[str, Path, Endpoint | None], Engine | None]
"""Model, folder of prepared models, endpoint → the engine; None = it has no such model. Raises `Misconfigured`."""
_CHOICES = (
    f"use one of {', '.join(NAMES)}; the path of a folder needs the engine sentence-transformers, or `models prepare FOLDER` and "
    "then the folder's name"
)


def open_embedder(
    engine: str,
    model: str,
    models_dir: Path,
    cache_size: int,
    query: Side = PLAIN,
    document: Side = PLAIN,
    endpoint: Endpoint | None = None,
    engines: Mapping[str, EngineOpener] = MappingProxyType({}),
) -> CachedEmbedder:
    """A loading engine with a cache; await `ready`, then `aclose`. Raises `Misconfigured`.

    engine: "onnx" (prepared, loads in 0.2 s), "none", or one of `engines`. model: "all-MiniLM-L6-v2", a prepared folder's name,
    or what the engine takes. cache_size: vectors. engines: name → its opener.
    """
    try:
        opened = _open(engine, model, models_dir, endpoint, engines)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"the engine {engine} needs {error.name}, which is not installed: {installation('service')}, or use the engine none"
        ) from error
    return CachedEmbedder(opened, cache_size, query, document)


def _open(engine: str, model: str, models_dir: Path, endpoint: Endpoint | None, engines: Mapping[str, EngineOpener]) -> Engine:
    if engine == NO_MODEL:
        return NoEmbedder()
    if engine == "onnx" and (model in NAMES or (models_dir / model / DESCRIPTION).is_file()):
        from builder.adapters.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(models_dir / model)
    if engine in engines and (opened := engines[engine](model, models_dir, endpoint)):
        return opened
    names = ("onnx", *engines, NO_MODEL)
    if engine in names:
        raise Misconfigured(f"unknown model {model!r} for the engine {engine}: {_CHOICES}")
    raise Misconfigured(f"unknown embedding engine {engine!r}: use one of {', '.join(names)}")
