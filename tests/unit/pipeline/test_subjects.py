"""Of two instructions the later one counts only where both cannot hold."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.pipeline.subjects import repeats, subject, supersedes, withdraws
from tests.factories import make_terms


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Always answer in English.", "From now on answer in German."),
        ("Always write in English.", "Please reply in Spanish only."),
        ("Never use emojis.", "Use emojis, please."),
        ("Keep your answers under 100 words.", "Keep your answers under 200 words."),
        ("Call me Sam.", "Call me Alex."),
        ("I prefer short answers.", "I prefer long answers."),
        ("Use tabs.", "Use spaces instead of tabs."),
        ("Always use the red template.", "From now on use the blue template."),
        ("Show prices in metric units.", "Show prices in imperial units."),
        ("Antworte immer auf Deutsch.", "Ab jetzt antworte bitte auf Englisch."),
        ("Responde siempre en español.", "A partir de ahora responde en inglés."),
        ("请总是用中文回答。", "从现在开始用英文回答。"),
        ("Всегда отвечай по-русски.", "С этого момента отвечай по-английски."),
    ],
)
def test_what_excludes_the_earlier_one_supersedes_it(before: str, after: str) -> None:
    assert supersedes(subject(after, make_terms), subject(before, make_terms))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Always answer in English.", "Always answer briefly."),
        ("Always answer in English.", "Write mails to Hamburg in German."),
        ("Never email customers on Sundays.", "Email customers the invoice on Mondays."),
        ("Never use emojis.", "Never use tables."),
        ("Never use emojis.", "Use emojis in mails to Priya."),
        ("Keep mails short.", "Keep the yearly report long."),
        ("I prefer tea.", "I prefer short answers."),
        ("Always weigh glaze batch 7 twice.", "Always weigh glaze batch 8 twice."),
        ("Always show 2 decimals in prices.", "Remind me after 3 days."),
        ("Always include version numbers when I ask about libraries.", "Always include error codes when I ask about APIs."),
        ("Antworte immer auf Deutsch.", "Benutze nie Abkürzungen."),
    ],
)
def test_what_can_hold_beside_the_earlier_one_leaves_it_alone(before: str, after: str) -> None:
    assert not supersedes(subject(after, make_terms), subject(before, make_terms))
    assert not repeats(subject(after, make_terms), subject(before, make_terms))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Never use emojis.", "Please don't use emojis!"),
        ("Always answer in English.", "From now on please reply in English."),
        ("Nunca uses emojis.", "No uses emojis, por favor."),
    ],
)
def test_the_same_wish_in_other_words_is_a_repeat(before: str, after: str) -> None:
    assert repeats(subject(before, make_terms), subject(after, make_terms))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Never use emojis.", "You can use emojis again."),
        ("From now on answer in German.", "You don't have to answer in German any more."),
        ("Please don't use tables.", "Forget what I said about tables."),
        ("Benutze nie Emojis.", "Du darfst wieder Emojis benutzen."),
        ("Nunca uses emojis.", "Puedes usar emojis otra vez."),
        ("不要用表情符号。", "可以重新使用表情符号了。"),
        ("Никогда не используй эмодзи.", "Можешь снова использовать эмодзи."),
    ],
)
def test_an_instruction_is_taken_back_by_its_subject(before: str, after: str) -> None:
    assert withdraws(subject(after, make_terms), subject(before, make_terms))
    assert not withdraws(subject(after, make_terms), subject("Always show prices with VAT.", make_terms))
