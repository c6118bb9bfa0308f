"""Cutting texts: into passages for search, and down to a number of tokens."""
# ruff: noqa: RUF001 - words of many scripts

from itertools import pairwise

import regex
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.cuts.passages import clip
from builder.adapters.templates.cuts.shorten import shorten
from builder.adapters.tokens import load_counter
from builder.domain.text import visible
from builder.language.sentences import fingerprint, wording
from builder.language.words import is_filler
from builder.remember.memory import MAX_PASSAGE_CHARS, PASSAGE_WORDS, passages
from tests.examples import examples
from tests.factories import left_out, make_terms
from tests.property.sessions import SCRIPTS, sentences

spaces = st.sampled_from((" ", "  ", "\n", "\n\n\n", "\t", "\u00a0", "\u2028", " " * 1300, "\r\n"))
ends = st.sampled_from((".", "!", "?", "。", "…", "", "", ""))
words = st.one_of(
    st.text(max_size=12), st.sampled_from(("x" * 1199, "x" * 1200, "x" * 1201, "好" * 700, "a.b.c", "👩‍👩‍👧‍👦" * 9))
)
texts = st.one_of(
    st.text(),
    sentences(),
    st.lists(st.tuples(words, ends, spaces), max_size=300).map(lambda parts: "".join(map("".join, parts))),
)
items = texts.map(lambda text: f"- {visible(text)}")
"""As fragments are when they are cut."""


@examples(60)
@given(texts)
def test_passages_are_short_cover_every_word_in_order_and_cut_none_that_fits_into_one(text: str) -> None:
    spans = passages(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(start <= end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start, end in spans:
        assert end - start <= MAX_PASSAGE_CHARS
        assert len(text[start:end].split()) <= PASSAGE_WORDS
        assert len(spans) == 1 or text[start:end].strip()
    for cut in {end for _, end in spans[:-1]}:
        before, after = text[:cut].split()[-1:], text[cut:].split()[:1]
        if before and after and not text[cut - 1].isspace() and not text[cut].isspace():
            assert len(before[0]) + len(after[0]) > MAX_PASSAGE_CHARS or before[0][-1] in "。！？"


@examples(60)
@given(items, st.integers(-1, 300), st.sampled_from(("o200k_base", "cl100k_base")))
def test_a_shortened_text_never_has_more_tokens_than_allowed_or_than_it_had(text: str, tokens: int, encoding: str) -> None:
    count = load_counter(encoding)
    short = shorten(text, tokens, count, left_out)
    assert not short or count(short + "\n") <= min(tokens, count(text + "\n"))
    assert short == text if count(text + "\n") <= tokens and len(text) <= 16 * tokens else short != text or not text


@examples(60)
@given(items, st.integers(15, 300))
def test_a_shortened_text_is_made_of_its_head_and_its_tail(text: str, tokens: int) -> None:
    parts = shorten(text, tokens, load_counter("o200k_base"), left_out).split("[… ")
    if len(parts) == 2:
        head, tail = parts[0].rstrip(), parts[1].partition("left out …]")[2].strip()
        assert text.startswith(head)
        assert text.rstrip().endswith(tail)
        assert len(head) + len(tail) <= len(text)


@examples(60)
@given(texts, texts)
def test_two_texts_have_one_fingerprint_when_they_are_worded_alike(first: str, second: str) -> None:
    assert (fingerprint(first) == fingerprint(second)) == (wording(first) == wording(second))
    assert isinstance(is_filler(first), bool)


@examples(60)
@given(texts)
def test_terms_are_single_words_and_the_same_each_time(text: str) -> None:
    terms = make_terms(text)
    assert terms == " ".join(terms.split()) == make_terms(text)


FENCES = ("```python", "```", "~~~", "~~~~ sh", "| a | b |", "|---|---|", "| one | two \\| three |", "plain words here")


@examples(60)
@given(st.sampled_from(SCRIPTS), st.integers(1, 40), st.integers(15, 200))
def test_no_cut_splits_what_is_one_character_to_the_eye(script: str, times: int, tokens: int) -> None:
    text = "- " + "".join(script.split()) * times
    whole = set(regex.findall(r"\X", text))
    for part in regex.split(
        r"\s*\[… [\d,]+ characters left out …\]\s*", shorten(text, tokens, load_counter("o200k_base"), left_out)
    ):
        assert set(regex.findall(r"\X", part)) <= whole
    assert set(regex.findall(r"\X", clip(text, tokens))) <= {*whole, " ", "…"}
    assert len(clip(text, tokens)) <= max(tokens, len(" …"))


@examples(60)
@given(st.lists(st.tuples(st.sampled_from(FENCES), sentences(6)), min_size=3, max_size=60), st.integers(20, 300))
def test_a_fence_that_a_cut_leaves_open_is_closed_and_a_table_row_stays_whole(parts: list[tuple[str, str]], tokens: int) -> None:
    lines = [line for opening, said in parts for line in (opening, said) if line.strip() and "\n" not in line]
    text = "Ana: so\n" + "\n".join(f"    {line}" for line in lines)
    short = shorten(text, tokens, load_counter("o200k_base"), left_out)
    if not short:
        return
    assert is_open(text) or not is_open(short)
    rows = {line.strip() for line in text.split("\n")}
    assert all(line.strip() in rows for line in short.split("\n") if line.strip().startswith("|"))


def is_open(text: str) -> bool:
    """Whether the text ends inside a code fence, read line by line."""
    fence = ""
    for line in map(str.strip, text.split("\n")):
        marks = line[: len(line) - len(line.lstrip(line[:1]))] if line.startswith(("```", "~~~")) else ""
        if marks and not fence:
            fence = marks
        elif marks and line == marks and marks.startswith(fence):
            fence = ""
    return bool(fence)
