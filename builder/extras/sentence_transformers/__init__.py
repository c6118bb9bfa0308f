"""Models of sentence-transformers: the reference engine, and the models that it prepares for the engine onnx. Needs torch."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.extra import Extra

if TYPE_CHECKING:
    from builder.adapters.embedding.engine import Endpoint, Engine


def _engine(model: str, _models_dir: Path, _endpoint: "Endpoint | None") -> "Engine | None":
    from builder.adapters.embedding.prepared import NAMES
    from builder.extras.sentence_transformers.prepare import ReferenceEmbedder, source_folder

    if model in NAMES:
        return ReferenceEmbedder(source_folder(), model)
    folder = Path(model).expanduser()
    return ReferenceEmbedder(folder.resolve()) if folder.is_dir() else None


def _prepare(models_dir: Path, source: Path | None) -> dict[str, Any]:
    from builder.extras.sentence_transformers.prepare import prepare

    return asdict(prepare(models_dir, source))


extra = Extra(engines={"sentence-transformers": _engine}, model_makers={"onnx": _prepare})
