"""Standing instructions are told from stories, questions, facts and things to do once, sentence by sentence.

The messages are data: a file a language, a line a message, "+" where it instructs.
"""

from pathlib import Path

import pytest

from builder.language.instruction_patterns import languages
from builder.language.instructions import END_CHARS, MAX_SENTENCE_CHARS, instructions
from tests.growth import LINEAR, growth

FOLDER = Path(__file__).parent
LINES = {file.stem: file.read_text("utf-8").splitlines() for file in sorted(FOLDER.glob("*.txt"))}
"""Name of the file → a message in each line, behind "+ " or "- "."""
TAKEN_BACK = (
    "You can use emojis again.",
    "You don't have to answer in German any more.",
    "Forget what I said about tables.",
    "ignore the rule about tables",
    "Emojis are fine again.",
    "Du darfst wieder Emojis benutzen.",
    "Vergiss die Regel mit den Tabellen.",
    "Puedes usar emojis otra vez.",
    "Olvida lo que dije sobre las tablas.",
    "可以重新使用表情符号了。",
    "Можешь снова использовать эмодзи.",
    "Tu peux de nouveau utiliser des emojis.",
)
UNREAD = 5
"""Less than tenfold what is read can grow by, where nothing more is read."""
LOG = "\n".join(f"2026-03-02 09:{minute:02}:01 ERROR never reached the kiln, always retrying" for minute in range(40))


def wishes(text: str) -> list[str]:
    return [text[found.start : found.end] for found in instructions(text) if not found.withdraws]


def test_each_language_has_its_file() -> None:
    assert {"en", "de", "es", "ru", "zh"} <= {language.code for language in languages()}


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


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_an_instruction_may_be_taken_back(text: str) -> None:
    (found,) = instructions(text)
    assert found.withdraws


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
