"""Makes the vectors of golden cases: `python -m tests.golden.write_vectors`, in the root of the repository.

A vector that a file has stays, so another processor changes no page. A deleted file is made anew.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from builder.adapters.embedding import open_embedder
from builder.extra import additions
from builder.ports.models import Embedder
from builder.ports.store import Store
from tests.golden.stored_vectors import Precision, key_of, read_vectors, vectors_file, write_vectors
from tests.golden.test_golden import CASES, HERE, build, folder_of
from tests.golden.test_other_vectors import SESSIONS
from tests.golden.test_rcrt_hints import build as build_rcrt
from tests.models import MODELS_DIR, prepared
from tests.stores import durable_store

Build = Callable[[Store, Embedder], Awaitable[Any]]
ENGINES: dict[Precision, str] = {"int8": "onnx", "fp32": "sentence-transformers"}


class Completing:
    """`Embedder` that asks the engine for what a file lacks. needed: key → vector, of all that was asked."""

    batch = 1

    def __init__(self, engine: Embedder, file: Path) -> None:
        model, vectors = read_vectors(file)
        self.model = engine.model
        self.needed: dict[bytes, bytes] = {}
        self._engine = engine
        self._stored = vectors if model == engine.model else {}

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:
        key = key_of(text)
        self.needed[key] = self._stored.get(key) or await self._engine.embed(text, is_query=is_query)
        return self.needed[key]


def builds(cases: tuple[str, ...]) -> dict[Path, list[Build]]:
    """By folder: its cases share a file."""
    found: dict[Path, list[Build]] = {}
    for case in cases:
        found.setdefault(folder_of(case), []).append(partial(build, case))
    return found


async def complete(precision: Precision, folders: dict[Path, list[Build]]) -> None:
    engine = open_embedder(ENGINES[precision], "all-MiniLM-L6-v2", MODELS_DIR, 4096, engines=additions("engines"))
    await engine.ready()
    for folder, made in folders.items():
        file = vectors_file(folder, precision)
        completing = Completing(engine, file)
        for each in made:
            with closing(durable_store()) as store:
                await each(store, completing)
        write_vectors(file, engine.model, completing.needed)
    await engine.aclose()


async def main() -> None:
    prepared()
    await complete("int8", builds(tuple(CASES)) | {HERE / "rcrt": [build_rcrt]})
    await complete("fp32", builds(tuple(SESSIONS)))


if __name__ == "__main__":
    asyncio.run(main())
