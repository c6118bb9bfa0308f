"""A cut keeps what the question asks for, wherever it is in a text of any language and any shape, and its numbers are true."""
# ruff: noqa: RUF001 - words of many scripts

import re
from random import Random
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from builder.assemble.items.rendering import RenderForm
from tests.conversations import answered
from tests.examples import examples
from tests.factories import make_rendering

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
