"""Vectors of the texts that golden cases embed, in one file a folder: no processor has a say in a page.

A file begins with the model's name and a line end. Then come its records, by key: 8 bytes of BLAKE2b of the text, and the unit
vector, as `Embedder` has it. MiniLM reads questions and passages alike, so a text has one vector.
"""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Literal, Self

import numpy as np

Precision = Literal["int8", "fp32"]
"""Of the service's own engine, and of its reference."""
COMMAND = "python -m tests.golden.write_vectors"
RECORD = np.dtype([("key", "V8"), ("vector", "<f2", (384,))])


class StoredVectors:
    """`Embedder` without a model."""

    batch = 1

    def __init__(self, folder: Path, precision: Precision = "int8") -> None:
        """folder: of the case."""
        self._file = vectors_file(folder, precision)
        self.model, self._vectors = read_vectors(self._file)

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:  # noqa: ARG002 - the port's
        """Raises `LookupError`, which nothing of the builder catches."""
        vector = self._vectors.get(key_of(text))
        if vector is None:
            raise LookupError(f"{self._file} has no vector of {text!r}: {COMMAND} makes it")
        return vector

    def exchanged(self) -> Self:
        """The same texts, each with the vector of another one."""
        keys = sorted(self._vectors)
        vectors = [self._vectors[key] for key in keys]
        self._vectors = dict(zip(keys, (*vectors[1:], vectors[0]), strict=True))
        return self


def vectors_file(folder: Path, precision: Precision) -> Path:
    return folder / f"vectors.{precision}"


def key_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def read_vectors(file: Path) -> tuple[str, dict[bytes, bytes]]:
    """The model, and key → vector; no model and nothing where there is no file."""
    if not file.exists():
        return "", {}
    model, _, data = file.read_bytes().partition(b"\n")
    records = np.frombuffer(data, RECORD)
    return model.decode(), {record["key"].tobytes(): record["vector"].tobytes() for record in records}


def write_vectors(file: Path, model: str, vectors: Mapping[bytes, bytes]) -> None:
    """The same vectors give the same bytes."""
    records = b"".join(key + vectors[key] for key in sorted(vectors))
    file.write_bytes(f"{model}\n".encode() + records)
