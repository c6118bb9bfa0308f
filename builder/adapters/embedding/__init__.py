"""Engines: text → unit vectors, opened by name. Nothing is downloaded."""

from pathlib import Path

from builder.adapters.embedding.cache import PLAIN, CachedEmbedder, Side
from builder.adapters.embedding.engine import Endpoint, Engine, NoEmbedder
from builder.adapters.embedding.prepared import DESCRIPTION, NAMES, PreparedModel, list_models
from builder.domain.errors import Misconfigured, installation
from builder.ports.models import NO_MODEL

__all__ = ["CachedEmbedder", "Endpoint", "PreparedModel", "list_models", "open_embedder"]

ENGINES = ("onnx", "sentence-transformers", "endpoint", NO_MODEL)
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
) -> CachedEmbedder:
    """A loading engine with a cache; await `ready`, then `aclose`. Raises `Misconfigured`.

    engine: "onnx" (prepared, loads in 0.2 s), "sentence-transformers" (reference, 5 to 18 s), "endpoint" or "none". model:
    "all-MiniLM-L6-v2", a prepared folder's name, or a path for sentence-transformers. cache_size: vectors.
    """
    try:
        opened = _open(engine, model, models_dir, endpoint)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"the engine {engine} needs {error.name}, which is not installed: {installation('service')}, or use the engine none"
        ) from error
    return CachedEmbedder(opened, cache_size, query, document)


def _open(engine: str, model: str, models_dir: Path, endpoint: Endpoint | None) -> Engine:
    if engine == NO_MODEL:
        return NoEmbedder()
    if engine == "endpoint" and endpoint:
        from builder.adapters.embedding.endpoint import EndpointEmbedder

        return EndpointEmbedder(endpoint)
    if engine == "onnx" and (model in NAMES or (models_dir / model / DESCRIPTION).is_file()):
        from builder.adapters.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(models_dir / model)
    if engine == "sentence-transformers" and (model in NAMES or Path(model).expanduser().is_dir()):
        from builder.adapters.embedding.prepare import ReferenceEmbedder, source_folder

        if model in NAMES:
            return ReferenceEmbedder(source_folder(), model)
        return ReferenceEmbedder(Path(model).expanduser().resolve())
    if engine in ENGINES:
        raise Misconfigured(f"unknown model {model!r} for the engine {engine}: {_CHOICES}")
    raise Misconfigured(f"unknown embedding engine {engine!r}: use one of {', '.join(ENGINES)}")
