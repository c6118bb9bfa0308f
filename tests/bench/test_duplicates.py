"""Labelled pairs in five languages through the real engine: which are shown as one, and what is filler (features F1 to F3).

`duplicates.tsv` was written for this test. filler: the first text is small talk, the second only looks like it.
"""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from builder.app import open_core
from builder.pipeline.sameness import contradict, says_the_same
from builder.pipeline.words import is_filler
from builder.settings import Embedding, Settings
from tests.models import MODELS_DIR, prepared

SETTINGS = Settings(embedding=Embedding(models_dir=MODELS_DIR))
PAIRS = list(csv.DictReader(Path(__file__).with_name("duplicates.tsv").read_text("utf-8").splitlines(), delimiter="\t"))
LANGUAGES = ("de", "en", "es", "ru", "zh")
RESTATEMENTS_MERGED = 0.85
"""Of each language; the others are told twice, which costs a line each."""


def of_kind(kind: str) -> list[dict[str, str]]:
    found = [pair for pair in PAIRS if pair["kind"] == kind]
    assert {pair["language"] for pair in found} == set(LANGUAGES)
    return found


async def merged(pairs: list[dict[str, str]]) -> list[dict[str, str]]:
    """The pairs that a page shows as one, by the default profile's threshold."""
    prepared()
    found = []
    async with open_core(SETTINGS, ":memory:") as core:
        threshold = core.profile("default").retrieval.duplicate_threshold
        for pair in pairs:
            vectors = [
                np.frombuffer(await core.embedder.embed(pair[side]), "<f2").astype(np.float32) for side in ("first", "second")
            ]
            if says_the_same(pair["first"], pair["second"], float(vectors[0] @ vectors[1]), threshold):
                found.append(pair)
    return found


def test_every_language_has_at_least_25_pairs() -> None:
    assert min(Counter(pair["language"] for pair in PAIRS).values()) >= 25


async def test_no_contradiction_is_ever_merged() -> None:
    assert await merged(of_kind("contradiction")) == []


def test_every_contradiction_is_seen_by_its_words_whatever_the_vectors_say() -> None:
    assert [pair for pair in of_kind("contradiction") if not contradict(pair["first"], pair["second"])] == []


async def test_what_says_something_else_is_not_merged() -> None:
    assert await merged(of_kind("different")) == []


async def test_most_restatements_are_merged() -> None:
    pairs = of_kind("restatement")
    together = Counter(pair["language"] for pair in await merged(pairs))
    for language, number in Counter(pair["language"] for pair in pairs).items():
        assert together[language] / number >= RESTATEMENTS_MERGED, language


@pytest.mark.parametrize("pair", of_kind("filler"), ids=lambda pair: f"{pair['language']}: {pair['first']}")
def test_small_talk_is_filler_and_what_looks_like_it_is_not(pair: dict[str, str]) -> None:
    assert is_filler(pair["first"])
    assert not is_filler(pair["second"])
