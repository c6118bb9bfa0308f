"""Cutting texts: into passages for search, and down to a number of tokens."""
# ruff: noqa: RUF001 - words of many scripts

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.pipeline.passages import LONGEST, WORDS, passages
from builder.pipeline.sameness import contradict
from builder.pipeline.words import fingerprint, is_filler, normalised
from builder.rendering.shorten import shorten
from tests.factories import make_terms
from tests.property.sessions import sentences

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


@settings(max_examples=300, deadline=None)
@given(texts)
def test_passages_cover_every_word_in_order(text: str) -> None:
    spans = passages(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(start <= end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@settings(max_examples=300, deadline=None)
@given(texts)
def test_passages_are_short(text: str) -> None:
    for start, end in passages(text):
        assert end - start <= LONGEST
        assert len(text[start:end].split()) <= WORDS


@settings(max_examples=200, deadline=None)
@given(texts)
def test_no_word_that_fits_into_a_passage_is_cut(text: str) -> None:
    inside = {end for _, end in passages(text)[:-1]}
    for cut in inside:
        before, after = text[:cut].split()[-1:], text[cut:].split()[:1]
        if before and after and not text[cut - 1].isspace() and not text[cut].isspace():
            assert len(before[0]) + len(after[0]) > LONGEST or before[0][-1] in "。！？"


@settings(max_examples=200, deadline=None)
@given(texts)
def test_no_passage_is_blank_unless_the_text_is(text: str) -> None:
    spans = passages(text)
    assert len(spans) == 1 or all(text[start:end].strip() for start, end in spans)


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(-1, 300), st.sampled_from(("o200k_base", "cl100k_base")))
def test_a_shortened_text_never_has_more_tokens_than_allowed_or_than_it_had(text: str, tokens: int, encoding: str) -> None:
    count = load_counter(encoding)
    short = shorten(text, tokens, count)
    assert not short or count(short + "\n") <= min(tokens, count(text + "\n"))
    assert short == text if count(text + "\n") <= tokens and len(text) <= 16 * tokens else short != text or not text


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(15, 300))
def test_a_shortened_text_is_made_of_its_head_and_its_tail(text: str, tokens: int) -> None:
    parts = shorten(text, tokens, load_counter("o200k_base")).split("[… ")
    if len(parts) == 2:
        head, tail = parts[0].rstrip(), parts[1].partition("left out …]")[2].strip()
        assert text.startswith(head)
        assert text.rstrip().endswith(tail)
        assert len(head) + len(tail) <= len(text)


@settings(max_examples=300, deadline=None)
@given(texts, texts)
def test_repeats_and_contradictions_do_not_depend_on_who_comes_first(first: str, second: str) -> None:
    assert (fingerprint(first) == fingerprint(second)) == (normalised(first) == normalised(second))
    assert not contradict(first, first)
    assert contradict(first, second) == contradict(second, first)
    assert isinstance(is_filler(first), bool)


@settings(max_examples=300, deadline=None)
@given(texts)
def test_terms_are_single_words_and_the_same_each_time(text: str) -> None:
    terms = make_terms(text)
    assert terms == " ".join(terms.split()) == make_terms(text)
