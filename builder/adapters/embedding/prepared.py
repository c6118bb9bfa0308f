"""The prepared model on disk: a folder with `model.onnx`, `tokenizer.json` and `model.json`, which holds their hashes."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from builder.domain.errors import Misconfigured

NAMES = ("all-MiniLM-L6-v2",)
WEIGHTS, TOKENIZER, DESCRIPTION = "model.onnx", "tokenizer.json", "model.json"
_REMEDY = "run `context-builder models prepare`"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that is ready for use."""

    name: str
    folder: Path
    model: str
    """Id that stored vectors carry, `<name>/int8/<first 12 hex digits of the hash of model.onnx>`."""
    dimension: int
    """Values in a vector."""
    window: int
    """Word pieces that are read, [CLS] and [SEP] included."""
    mean_cosine: float
    """Agreement with the float32 original over the bundled sentences, measured when it was prepared."""
    prepared: bool = False
    """This call made it; False = it was there."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that could be used: `ready` is None and `problem` says why, or `problem` is empty."""

    name: str
    folder: Path
    ready: PreparedModel | None
    problem: str


def list_models(models_dir: Path) -> tuple[ListedModel, ...]:
    """Every model that can be prepared, with its state under `models_dir`. Reads their files, never loads them."""
    return tuple(_listed(models_dir / name) for name in NAMES)


def read_prepared(folder: Path) -> PreparedModel:
    """The model in `folder`, its files checked against their hashes. Raises `Misconfigured` when it is absent or altered."""
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


def _listed(folder: Path) -> ListedModel:
    try:
        return ListedModel(folder.name, folder, read_prepared(folder), "")
    except Misconfigured as exc:
        return ListedModel(folder.name, folder, None, str(exc))
