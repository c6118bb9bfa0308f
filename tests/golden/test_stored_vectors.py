"""Golden cases read their vectors: they fail where one lacks, and the command that makes it changes no other."""

import asyncio
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.factories import MODEL, make_vector
from tests.golden.stored_vectors import COMMAND, RECORD, StoredVectors, key_of, read_vectors, write_vectors
from tests.golden.test_golden import HERE, build, folder_of
from tests.golden.test_other_vectors import SESSIONS
from tests.golden.write_vectors import Completing
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store

FILES = sorted(HERE.glob("*/vectors.*"))
KILN, CLAY = np.eye(2, 384, dtype="<f2")


def test_each_folder_has_its_vectors_and_each_session_those_of_the_reference() -> None:
    folders = {file.parent for file in HERE.glob("*/expected*.md")}
    expected = {folder / "vectors.int8" for folder in folders} | {folder_of(case) / "vectors.fp32" for case in SESSIONS}
    assert set(FILES) == expected


def test_every_vector_is_of_unit_length_and_of_the_model_that_its_file_names() -> None:
    for file in FILES:
        model, vectors = read_vectors(file)
        assert model.startswith(f"all-MiniLM-L6-v2/{file.suffix[1:]}/"), file
        assert len(model) + 1 + len(vectors) * RECORD.itemsize == file.stat().st_size
        lengths = [np.linalg.norm(np.frombuffer(vector, "<f2").astype(np.float64)) for vector in vectors.values()]
        assert lengths == pytest.approx([1.0] * len(lengths), abs=1e-3)


async def test_a_text_without_a_vector_is_told_with_the_command_that_makes_it() -> None:
    with pytest.raises(LookupError, match=f"has no vector of 'Nobody says this.': {COMMAND} makes it"):
        await StoredVectors(folder_of("billing")).embed("Nobody says this.")


def test_a_case_fails_without_its_vectors(tmp_path: Path) -> None:
    """As degraded pages it would hide the lack."""
    with closing(durable_store()) as store, pytest.raises(LookupError, match=COMMAND):
        asyncio.run(build("billing", store, StoredVectors(tmp_path)))


async def test_what_was_written_is_read(tmp_path: Path) -> None:
    written = {key_of("kiln"): KILN.tobytes(), key_of("clay"): CLAY.tobytes()}
    write_vectors(tmp_path / "vectors.int8", MODEL, written)
    embedder = StoredVectors(tmp_path)
    assert embedder.model == MODEL
    assert [await embedder.embed("kiln"), await embedder.embed("clay", is_query=True)] == [KILN.tobytes(), CLAY.tobytes()]


async def test_the_command_asks_the_model_for_what_lacks_and_drops_what_nothing_needs(tmp_path: Path) -> None:
    file, engine = tmp_path / "vectors.int8", HashingEmbedder()
    write_vectors(file, MODEL, {key_of("kiln"): KILN.tobytes(), key_of("clay"): CLAY.tobytes()})
    completing = Completing(engine, file)
    assert [await completing.embed("kiln"), await completing.embed("glaze")] == [KILN.tobytes(), make_vector("glaze")]
    assert engine.asked == 1
    assert completing.needed.keys() == {key_of("kiln"), key_of("glaze")}


async def test_the_command_makes_all_vectors_of_another_model_anew(tmp_path: Path) -> None:
    write_vectors(tmp_path / "vectors.int8", "another/int8/000000", {key_of("kiln"): KILN.tobytes()})
    assert await Completing(HashingEmbedder(), tmp_path / "vectors.int8").embed("kiln") == make_vector("kiln")
