"""A later instruction ends an earlier one only when it is about the same thing."""

import pytest

from builder.language.instructions import Subject, ends, instructions, repeats, subject
from tests.factories import make_terms


def about(sentence: str) -> Subject:
    """The subject of a sentence that is one instruction, or takes one back."""
    (found,) = instructions(sentence)
    return subject(sentence[found.start : found.end], found.language, make_terms)


@pytest.mark.parametrize(
    ("rule", "permission"),
    [
        ("Never use emojis.", "You can use emojis again."),
        ("No emojis please", "you can use emojis again"),
        ("Stop using emojis.", "Emojis are fine again."),
        ("Never use emojis in mails.", "You can use emojis again."),
        ("Don't use emojis", "ignore the rule about emojis"),
        ("Please don't use tables.", "Forget what I said about tables."),
        ("Never delete files.", "You can delete files again."),
        ("Never delete temporary files.", "You can delete files again."),
        ("From now on answer in German.", "You don't have to answer in German any more."),
        ("Don't call me before 9.", "You can call me before 9 again."),
        ("Always cite sources.", "You don't need to cite sources anymore."),
        ("Never push to main.", "You may push to main again."),
        ("Avoid bullet points.", "It's ok to use bullet points again."),
        ("Benutze nie Emojis.", "Du darfst wieder Emojis benutzen."),
        ("Keine Emojis bitte", "du kannst jetzt wieder Emojis verwenden"),
        ("Lösche nie Dateien.", "Du darfst wieder Dateien löschen."),
        ("Schick mir nachts keine Benachrichtigungen.", "Du kannst mir nachts wieder Benachrichtigungen schicken."),
        ("Keine Tabellen mehr bitte.", "Vergiss die Regel mit den Tabellen."),
        ("Nunca uses emojis.", "Puedes usar emojis otra vez."),
        ("Nunca borres archivos.", "Puedes volver a borrar archivos."),
        ("Responde siempre en inglés.", "Ya no hace falta que respondas en inglés."),
        ("Evita las tablas.", "Olvida lo que dije sobre las tablas."),
        ("不要用表情符号。", "可以重新使用表情符号了。"),
        ("Никогда не используй эмодзи.", "Можешь снова использовать эмодзи."),
    ],
)
def test_a_permission_that_adds_no_word_to_a_rule_ends_it(rule: str, permission: str) -> None:
    assert ends(about(permission), about(rule))
    assert not ends(about(permission), about("Always show prices with VAT."))


@pytest.mark.parametrize(
    ("rule", "permission"),
    [
        ("Never delete files.", "You can delete temporary files again."),
        ("Never ship anything without a picture.", "You can use emojis again."),
        ("Never push to main.", "You can push to staging again."),
        ("Never suggest dishes with peanuts, I am allergic.", "You can suggest dishes with cheese again."),
        ("Never send emails to customers without asking me.", "You can send emails to suppliers again."),
        ("Never call me before 9.", "You can call me after 9 again."),
        ("Never forward mails from Tom.", "You can forward mails to Tom again."),
        ("Never let Tom call Eva.", "You can let Eva call Tom again."),
        ("Never share Anna's address with Bob.", "You can share Bob's address with Anna again."),
        ("Never translate English into German.", "You can translate German into English again."),
        ("Never tell Anna about Bob.", "You can tell Bob about Anna again."),
        ("Never delete files.", "You can use files again."),
        ("Never use emojis or tables.", "You can use emojis again."),
        ("Never call my sister.", "You can call her again."),
        ("Never use emojis.", "You can use emojis in mails to Priya again."),
        ("Lösche nie Dateien.", "Du darfst wieder temporäre Dateien löschen."),
        ("Benutze nie Emojis.", "Du darfst wieder Tabellen benutzen."),
        ("Nunca borres archivos.", "Puedes borrar archivos temporales otra vez."),
        ("不要用表情符号。", "可以重新使用表格了。"),
        ("Никогда не удаляй файлы.", "Можешь снова удалять временные файлы."),
    ],
)
def test_a_permission_for_something_else_ends_nothing(rule: str, permission: str) -> None:
    assert not ends(about(permission), about(rule))


def test_only_the_same_words_are_a_repeat() -> None:
    assert repeats(about("Please never use emojis."), about("never use emojis"))
    assert not repeats(about("Don't use emojis."), about("Never use emojis."))
    assert not repeats(about("Never call me after 18."), about("Never call me before 9."))
