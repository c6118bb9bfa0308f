"""A prepared model on disk: `model.onnx`, `tokenizer.json`, and `model.json` with their hashes."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from builder.domain.errors import Misconfigured
from builder.domain.json_values import JsonObject

NAMES = ("all-MiniLM-L6-v2",)
WEIGHTS, TOKENIZER, DESCRIPTION = "model.onnx", "tokenizer.json", "model.json"
_REMEDY = "run `context-builder models prepare`"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that is ready for use."""

    name: str
    folder: Path
    model: str
    """`<name>/int8/<first 12 hex digits of the SHA-256 of model.onnx>`."""
    dimension: int
    window: int
    """Word pieces, [CLS] and [SEP] included."""
    mean_cosine: float
    """With the float32 original, over the bundled sentences."""
    source_version: str = ""
    """The package's, or the hash of the folder's weights."""
    size: int = 0
    """Bytes of the weights."""
    milliseconds: float = 0
    """Per bundled sentence, measured when it was prepared."""
    milliseconds_before: float = 0
    """By the float32 original."""
    prepared: bool = False
    """False = it was there."""


def list_models(models_dir: Path) -> list[JsonObject]:
    """{name, folder, ready, state}; state: id or problem."""
    others = sorted({file.parent.name for file in models_dir.glob(f"[!.]*/{DESCRIPTION}")} - {*NAMES})
    return [_listed(models_dir / name) for name in (*NAMES, *others)]


def read_prepared(folder: Path) -> PreparedModel:
    """Checked by its hashes. Raises `Misconfigured`."""
    if not (folder / DESCRIPTION).is_file():
        raise Misconfigured(f"the model {folder.name} is not prepared in {folder}: {_REMEDY}")
    try:
        described = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        hashes = {WEIGHTS: str(described["sha256"]), TOKENIZER: str(described["tokenizer_sha256"])}
        entry = PreparedModel(
            name=str(described["name"]),
            folder=folder,
            model=f"{described['name']}/int8/{hashes[WEIGHTS][:12]}",
            dimension=int(described["dimension"]),
            window=int(described["window"]),
            mean_cosine=float(described["mean_cosine"]),
            source_version=str(described["source_version"]),
            size=int(described.get("bytes", 0)),
            milliseconds=float(described.get("milliseconds", 0)),
            milliseconds_before=float(described.get("milliseconds_before", 0)),
        )
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Misconfigured(f"{folder / DESCRIPTION} cannot be read ({exc!r}): {_REMEDY}") from exc
    for name, expected in hashes.items():
        _check(folder / name, expected)
    return entry


def sha256(path: Path) -> str:
    """Hash of a file, in hex. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(path: Path, expected: str) -> None:
    try:
        entry = sha256(path)
    except OSError as exc:
        raise Misconfigured(f"{path} cannot be read ({exc}): {_REMEDY}") from exc
    if entry != expected:
        raise Misconfigured(f"{path} was altered, its SHA-256 is {entry} instead of {expected}: {_REMEDY}")


def _listed(folder: Path) -> JsonObject:
    row = {"name": folder.name, "folder": str(folder)}
    try:
        return row | {"ready": True, "state": read_prepared(folder).model}
    except Misconfigured as exc:
        return row | {"ready": False, "state": str(exc)}
