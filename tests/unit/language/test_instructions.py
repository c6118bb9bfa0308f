"""Standing instructions are told from stories, questions, facts and things to do once, sentence by sentence.

The messages are data: a file a language, a line a message, "+" where it instructs.
"""

from pathlib import Path

import pytest

from builder.language.instruction_patterns import languages
from builder.language.instructions import END_CHARS, MAX_SENTENCE_CHARS, Subject, ends, instructions, repeats, subject
from tests.factories import make_terms
from tests.growth import LINEAR, growth

FOLDER = Path(__file__).parent
LINES = {file.stem: file.read_text("utf-8").splitlines() for file in sorted(FOLDER.glob("*.txt"))}
"""Name of the file → a message in each line, behind "+ " or "- "."""
UNREAD = 5
"""Less than tenfold what is read can grow by, where nothing more is read."""
LOG = "\n".join(f"2026-03-02 09:{minute:02}:01 ERROR never reached the kiln, always retrying" for minute in range(40))


def wishes(text: str) -> list[str]:
    return [text[found.start : found.end] for found in instructions(text) if not found.withdraws]


def test_each_language_has_its_file() -> None:
    assert {"en", "de", "es", "ru", "zh"} <= {language.code for language in languages()} & {*LINES}


@pytest.mark.parametrize("code", LINES)
def test_every_standing_instruction_is_known(code: str) -> None:
    texts = [line[2:] for line in LINES[code] if line.startswith("+ ")]
    assert texts
    assert [text for text in texts if not wishes(text)] == []


@pytest.mark.parametrize("code", LINES)
def test_what_is_no_instruction_is_not_taken_for_one(code: str) -> None:
    texts = [line[2:] for line in LINES[code] if line.startswith("- ")]
    assert texts
    assert [text for text in texts if wishes(text)] == []


@pytest.mark.parametrize("text", ["You can never push to main again.", "Du darfst nie wieder auf main pushen."])
def test_what_may_never_be_done_again_is_not_allowed_again(text: str) -> None:
    assert not any(found.withdraws for found in instructions(text))


def test_the_sentence_that_instructs_is_told_from_its_neighbours() -> None:
    text = "The kiln is hot. Never open it above 200 degrees. Is that all? Always write down the time!"
    assert wishes(text) == ["Never open it above 200 degrees.", "Always write down the time!"]


def test_a_run_on_sentence_is_shown_from_its_cue_on() -> None:
    text = f"I am building {'a very nice ' * 15}shop, and I prefer lightweight solutions over heavy ones"
    assert wishes(text) == ["I prefer lightweight solutions over heavy ones"]


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("I'm looking for running shoes, size 10, budget 120 dollars, no leather please.", "no leather please."),
        ("Ich suche Laufschuhe, Größe 42, bis 120 Euro, bitte kein Leder.", "bitte kein Leder."),
        ("For dinner, on weekdays, never serve fish.", "For dinner, on weekdays, never serve fish."),
    ],
)
def test_what_people_say_of_themselves_before_a_rule_is_no_part_of_it(text: str, wish: str) -> None:
    assert wishes(text) == [wish]


@pytest.mark.parametrize(
    "pasted",
    [
        f"\n{LOG}",
        f" {' '.join(LOG.splitlines())}",
        f"\n```\n{LOG}\n```",
        "\nHi Tom,\nplease never call me before nine.\nBest, Ann",
    ],
)
def test_of_what_is_pasted_behind_a_colon_nothing_is_taken(pasted: str) -> None:
    assert wishes(f"Always answer briefly:{pasted}") == ["Always answer briefly:"]


def test_code_in_a_sentence_ends_it() -> None:
    assert wishes("Never use tabs ```x = [1]```") == ["Never use tabs"]


def test_what_follows_a_colon_and_is_short_belongs_to_the_sentence() -> None:
    assert wishes("Always use this format: date, amount, name.") == ["Always use this format: date, amount, name."]


def test_a_list_of_rules_is_read_and_the_mail_of_somebody_else_is_not() -> None:
    assert wishes("My rules:\n- no emojis\n- Never push to main") == ["no emojis", "Never push to main"]
    assert wishes("This is the mail from my boss:\n\nHi team,\nplease always lock the door.") == []
    assert wishes("Thanks!\n\nOn Monday, 2 March 2026 Ann wrote:\nplease never call me before nine") == []


def test_comments_of_code_and_quoted_lines_are_nobodys_wish() -> None:
    assert wishes("```python\n# always close the file\nnever_mind()\n```\nNever use tabs.") == ["Never use tabs."]
    assert wishes("> Never use tabs.\nI do not agree.") == []


def test_a_sentence_without_an_end_is_cut_where_nobody_writes_on() -> None:
    (wish,) = wishes(f"Never use tabs {'and so on ' * 400}")
    assert len(wish) <= MAX_SENTENCE_CHARS


def test_both_ends_of_a_long_text_are_read() -> None:
    story = "The clay came late and it was wet.\n" * 2_000
    assert wishes(f"Never use tabs.\n{story}Always cite your sources.") == ["Never use tabs.", "Always cite your sources."]


@pytest.mark.parametrize(
    "piece", ["always ", "a, ", "i would like you to never ", "keep: ", "no me a partir de ahora ", "请不要每次我问", '"']
)
def test_texts_made_to_be_slow_are_read_in_part(piece: str) -> None:
    def read(size: int) -> None:
        instructions((piece * size)[:size])

    assert growth(read, END_CHARS // 10) < LINEAR, "what is read takes linear time"
    assert growth(read, 10 * END_CHARS) < UNREAD, "of more, no more is read"


def about(sentence: str, *, withdraws: bool = False) -> Subject:
    """The subject of a sentence that is one instruction, or takes one back."""
    (found,) = instructions(sentence)
    assert found.withdraws is withdraws
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
        ("Never push to main.", "Pushing to main is allowed now."),
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
        ("Ne mets jamais d'emojis.", "Tu peux de nouveau utiliser des emojis."),
    ],
)
def test_a_permission_that_adds_no_word_to_a_rule_ends_it(rule: str, permission: str) -> None:
    assert ends(about(permission, withdraws=True), about(rule))
    assert not ends(about(permission, withdraws=True), about("Always show prices with VAT."))


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
    assert not ends(about(permission, withdraws=True), about(rule))


def test_only_the_same_words_are_a_repeat() -> None:
    assert repeats(about("Please never use emojis."), about("never use emojis"))
    assert not repeats(about("Don't use emojis."), about("Never use emojis."))
    assert not repeats(about("Never call me after 18."), about("Never call me before 9."))
