"""Cutting texts: into passages for search, and down to a number of tokens, where what the question asks for stays."""
# ruff: noqa: RUF001 - words of many scripts

import re
from itertools import pairwise
from random import Random
from typing import NamedTuple

import regex
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.cuts.passages import clip
from builder.adapters.templates.cuts.shorten import shorten
from builder.adapters.tokens import load_counter
from builder.assemble.items.forms import RenderForm
from builder.domain.control_text import visible
from builder.language.wording import fingerprint, wording
from builder.language.words import is_filler
from builder.remember.memory import MAX_PASSAGE_CHARS, PASSAGE_WORDS, passages
from tests.conversations import answered
from tests.examples import examples
from tests.factories import left_out, make_rendering, make_terms
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


CHARACTERS = 60_000


class Language(NamedTuple):
    """A question, the sentence that answers it, and words of other sentences."""

    question: str
    answer: str
    others: str


LANGUAGES = (
    Language("Who signed for kiln_41?", "Kiln 41: signed by Petra.", "the bus leaves at noon with a parcel for our shop and us"),
    Language(
        "Wann wurden die Brennöfen gewartet?",
        "Wartung des Brennofens: 3. Mai.",
        "der Bus und ein Paket für uns im Laden am Mittag",
    ),
    Language(
        "Где хранится запасной ключ?", "Запасные ключи хранятся у Инги.", "автобус едет днём в город и везёт посылку для нас"
    ),
    Language("备用钥匙在谁那里？", "备用钥匙在英格那里。", "公交 中午 出发 包裹 送到 商店 我们 今天 没有 消息"),
    Language("متى فُحص الفرن الأزرق؟", "فحص الفرن الأزرق يوم الأحد.", "تغادر الحافلة ظهرا مع طرد إلى متجرنا في المدينة اليوم"),
)
SHAPES = {
    "log": ("2026-03-10 15:40:{second:02} INFO {words} {number}", "\n"),
    "code": ('        call_{number}("{words}")', "\n"),
    "json": ('  "k{number}": "{words}",', "\n"),
    "compact json": ('"k{number}":"{words}"', ","),
    "table": ("| {number} | {words} |", "\n"),
    "prose": ("{words}.", " "),
}


def text_with(language: Language, shape: str, place: float) -> str:
    random, (line, joint) = Random(7), SHAPES[shape]  # noqa: S311 - the same each time
    lines: list[str] = []
    while sum(map(len, lines)) < CHARACTERS:
        words = " ".join(random.choices(language.others.split(), k=8))
        lines += [
            line.format(words=f"{words} {number}", number=number, second=number % 60)
            for number in range(len(lines), len(lines) + 50)
        ]
    lines.insert(int(place * len(lines)), line.format(words=language.answer.removesuffix("."), number=0, second=0))
    return joint.join(lines)


@examples(25)
@given(st.sampled_from(LANGUAGES), st.sampled_from(sorted(SHAPES)), st.floats(0, 1), st.integers(100, 2_000))
def test_the_answer_stays_in_every_language_and_shape_at_every_size(
    language: Language, shape: str, place: float, cap: int
) -> None:
    text = text_with(language, shape, place)
    row = answered(2, "r1", text).breadcrumb
    cut = make_rendering().fragment(row, RenderForm(answer=True), "Tool", cap=cap, question=language.question)
    assert cut.tokens <= cap < cut.in_all
    assert language.answer.removesuffix(".") in cut.text
    assert cut.text.count(f"id {row.id}") == 1, "the first mark alone has the id"
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\[… ([\d,]+) characters left out", cut.text)]
    shown = re.sub(r"\n? *\[… [\d,]+ characters left out[^…]*…\]\s?", "", cut.text.replace("```", ""))
    letters = len(re.sub(r"\s", "", shown.removeprefix("  Result:")))
    assert len(re.sub(r"\s", "", text)) <= letters + sum(numbers) <= len(text) + 10
