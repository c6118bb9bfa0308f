"""Labelled pairs in five languages: which are shown as one, and what is filler.

`duplicates.tsv` was written for this test. filler: the first text is small talk, the second only looks like it. A restatement in
other words is shown beside what it restates.
"""

import csv
from collections import Counter
from pathlib import Path

import pytest

from builder.language.wording import wording
from builder.language.words import is_filler

PAIRS = list(csv.DictReader(Path(__file__).with_name("duplicates.tsv").read_text("utf-8").splitlines(), delimiter="\t"))
LANGUAGES = ("de", "en", "es", "ru", "zh")


def of_kind(kind: str) -> list[dict[str, str]]:
    found = [pair for pair in PAIRS if pair["kind"] == kind]
    assert {pair["language"] for pair in found} == set(LANGUAGES)
    return found


def merged(pairs: list[dict[str, str]]) -> list[dict[str, str]]:
    """The pairs that a page shows as one."""
    return [pair for pair in pairs if wording(pair["first"]) == wording(pair["second"])]


def test_every_language_has_at_least_25_pairs() -> None:
    assert min(Counter(pair["language"] for pair in PAIRS).values()) >= 25


@pytest.mark.parametrize("kind", ["contradiction", "different"])
def test_what_says_something_else_is_never_merged(kind: str) -> None:
    assert merged(of_kind(kind)) == []


def test_in_every_language_the_same_words_with_politeness_and_asides_are_merged() -> None:
    assert {pair["language"] for pair in merged(of_kind("restatement"))} == set(LANGUAGES)


@pytest.mark.parametrize("pair", of_kind("filler"), ids=lambda pair: f"{pair['language']}: {pair['first']}")
def test_small_talk_is_filler_and_what_looks_like_it_is_not(pair: dict[str, str]) -> None:
    assert is_filler(pair["first"])
    assert not is_filler(pair["second"])
