"""Preparing models, and the reference that they are compared with: all that needs torch, whose import takes seconds."""

import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from builder.adapters.embedding import list_models, open_embedder
from builder.adapters.embedding.onnx import OnnxModel
from builder.adapters.embedding.prepared import sha256
from builder.domain.errors import Misconfigured, Unavailable
from builder.extras.sentence_transformers import extra
from builder.extras.sentence_transformers.prepare import (
    ReferenceEmbedder,
    ReferenceModel,
    identity,
    prepare,
    sentences,
    source_folder,
)
from tests.models import prepared

pytestmark = pytest.mark.apart

NAME = "all-MiniLM-L6-v2"
WIDTH = 48


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with another pooling, a window of its own and a layer after the pooling, as many multilingual ones have."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - imports torch
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer  # noqa: PLC0415

    reading = Transformer(str(source_folder()), max_seq_length=40)
    folder = tmp_path_factory.mktemp("models") / "many-tongues"
    modules = [reading, Pooling(384, pooling_mode="cls"), Dense(384, WIDTH)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    return folder


async def test_the_model_of_a_folder_is_prepared_checked_and_opened_by_its_name(folder: Path, tmp_path: Path) -> None:
    made = prepare(tmp_path, folder)
    assert (made.name, made.dimension, made.window, made.prepared) == ("many-tongues", WIDTH, 40, True)
    assert made.mean_cosine >= 0.99
    assert made.size == (tmp_path / "many-tongues" / "model.onnx").stat().st_size
    assert min(made.milliseconds, made.milliseconds_before) > 0
    quick, original = OnnxModel(made.folder, made.window), ReferenceModel(folder)
    long = " ".join(sentences())
    pairs = [[np.frombuffer(each.encode(text), "<f2").astype(np.float64) for each in (quick, original)] for text in (long, "")]
    assert min(float(ours @ theirs) for ours, theirs in pairs) >= 0.97

    embedder = open_embedder("onnx", "many-tongues", tmp_path, 1)
    await embedder.ready()
    assert (embedder.model, len(await embedder.embed("hallo"))) == (made.model, 2 * WIDTH)
    await embedder.aclose()
    assert [model["name"] for model in list_models(tmp_path) if model["ready"]] == ["many-tongues"]

    assert not prepare(tmp_path, folder).prepared


def test_a_change_of_any_weights_or_configuration_is_another_model_and_one_of_its_description_is_not(tmp_path: Path) -> None:
    read = [
        "config.json",
        "modules.json",
        "model.safetensors",
        "model-00002-of-00002.safetensors",
        "pytorch_model.bin",
        "sentencepiece.bpe.model",
        "1_Pooling/config.json",
    ]
    unread = ["README.md", ".gitattributes", ".cache/huggingface/config.json", "onnx/model.onnx"]
    for path in (*read, *unread):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("as it was")
    before = identity(tmp_path)

    def changed(path: str) -> str:
        (tmp_path / path).write_text("changed")
        try:
            return identity(tmp_path)
        finally:
            (tmp_path / path).write_text("as it was")

    assert len({before, *map(changed, read)}) == 1 + len(read)
    assert {before} == set(map(changed, unread))
    (tmp_path / read[-1]).rename(tmp_path / "1_Pooling" / "other.json")
    assert identity(tmp_path) != before


def test_a_folder_without_a_model_is_misconfigured_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Misconfigured, match="holds no sentence-transformers model"):
        prepare(tmp_path / "models", tmp_path / "empty")
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize("inside", ["", "many-tongues"], ids=["the folder", "a folder in a prepared one"])
def test_weights_in_the_place_of_the_prepared_model_are_kept_and_the_model_is_refused(tmp_path: Path, inside: str) -> None:
    place = tmp_path / "many-tongues"
    original = place / inside
    original.mkdir(parents=True)
    for name in ("config.json", "pytorch_model.bin"):
        (original / name).write_text("of the user")
    if inside:
        (place / "model.json").write_text("{}")
    with pytest.raises(Misconfigured, match=r"many-tongues is in the place .* move it out of the models directory"):
        prepare(tmp_path, original)
    assert (original / "pytorch_model.bin").read_text() == "of the user"
    assert [path.name for path in tmp_path.iterdir()] == ["many-tongues"]


def test_a_folder_named_like_the_bundled_model_does_not_take_its_place(tmp_path: Path) -> None:
    named = tmp_path / NAME
    named.mkdir()
    (named / "config.json").write_text("{}")
    with pytest.raises(Misconfigured, match="has the name of the bundled model all-MiniLM-L6-v2: rename the folder"):
        prepare(tmp_path / "models", named)
    assert not (tmp_path / "models").exists()


async def test_a_broken_folder_is_misconfigured_once_it_was_tried_and_unavailable_for_who_did_not_wait(tmp_path: Path) -> None:
    shutil.copytree(source_folder(), tmp_path / "broken", ignore=shutil.ignore_patterns("model.safetensors"))
    embedder = ReferenceEmbedder(tmp_path / "broken")
    with pytest.raises(Misconfigured, match=r"cannot be loaded .* give a complete sentence-transformers folder"):
        await embedder.ready()
    with pytest.raises(Unavailable, match=r"could not be loaded: .* give a complete sentence-transformers folder"):
        await embedder.embed("hello")
    await embedder.aclose()


async def test_the_reference_takes_the_packaged_model_by_name_and_any_folder_by_path(tmp_path: Path) -> None:
    named = open_embedder("sentence-transformers", NAME, tmp_path, cache_size=1, engines=extra.engines)
    by_path = open_embedder("sentence-transformers", str(source_folder()), tmp_path, cache_size=1, engines=extra.engines)
    await asyncio.gather(named.ready(), by_path.ready())
    assert named.model == f"{NAME}/fp32/{sha256(source_folder() / 'model.safetensors')[:12]}"
    assert by_path.model.startswith("model/fp32/")
    assert await named.embed("hello") == await by_path.embed("hello")
    await named.aclose()
    await by_path.aclose()


def test_a_model_of_another_origin_is_prepared_again_silently_and_comes_out_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Warnings are errors here. An altered file is refused by the reader that decides this, too: test_engines."""
    shutil.copytree(prepared().folder, tmp_path / NAME)
    description = tmp_path / NAME / "model.json"
    description.write_text(json.dumps(json.loads(description.read_text("utf-8")) | {"source_version": "another"}), "utf-8")
    assert prepare(tmp_path).prepared
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME / "model.onnx").read_bytes() == (prepared().folder / "model.onnx").read_bytes()


def test_the_prepared_model_agrees_with_the_reference() -> None:
    quick, reference = OnnxModel(prepared().folder), ReferenceModel(source_folder())
    pairs = [(np.frombuffer(quick.encode(text), "<f2"), np.frombuffer(reference.encode(text), "<f2")) for text in sentences()]
    cosines = [float(ours.astype(np.float64) @ theirs.astype(np.float64)) for ours, theirs in pairs]
    assert len(cosines) >= 60
    assert np.mean(cosines) >= 0.99
    assert np.mean(cosines) == pytest.approx(prepared().mean_cosine, abs=1e-3)
    assert min(cosines) >= 0.95
