"""Later instructions repeat or end earlier ones of their session."""

import pytest

from builder.adapters.stemmer import load_terms
from builder.language.instruction_log import REPEAT, SUPERSEDED, InstructionLog, read

TERMS = load_terms()


def log_of(*texts: str, sessions: tuple[int, ...] = (), person: int = -1) -> InstructionLog:
    log = InstructionLog()
    for row, text in enumerate(texts):
        log.grow(read(text, sessions[row] if sessions else 0, person, row, TERMS), row + 1)
    return log


def test_the_same_instruction_again_outdates_the_first_one() -> None:
    assert log_of("Always answer in German.", "Always answer in German!").later == [[(1, REPEAT)], []]


def test_a_permission_ends_the_instruction_that_it_takes_back() -> None:
    assert log_of("Never use emojis.", "You can use emojis again.").later[0] == [(1, SUPERSEDED)]


@pytest.mark.parametrize(
    ("rule", "permission"),
    [
        ("Never use emojis in mails to Tom.", "You can use tables in mails again."),
        ("Never book anything on account 4980.", "account 4980 is open again, use it for cleaning"),
        ("Buche nie etwas auf Konto 4980.", "Konto 4980 ist wieder offen."),
        ("Nunca reserves nada en la cuenta 4980.", "La cuenta 4980 está abierta otra vez."),
        ("N'utilise jamais le compte 4980.", "Le compte 4980 est rouvert."),
    ],
)
def test_a_permission_that_only_touches_an_instruction_is_read_behind_it(rule: str, permission: str) -> None:
    log = log_of(rule, permission)
    assert log.later[0] == []
    assert log.rules[1] == [0]


def test_instructions_of_two_sessions_do_not_meet() -> None:
    assert log_of("Never use emojis.", "Never use emojis.", sessions=(0, 1)).later == [[], []]


def test_instructions_of_one_person_meet_whatever_the_session() -> None:
    texts = ("Always answer in German.", "Always answer in German!", "Never use emojis.", "You can use emojis again.")
    log = log_of(*texts, sessions=(0, 1, 2, 3), person=0)
    assert log.later == [[(1, REPEAT)], [], [(3, SUPERSEDED)], []]


def test_the_log_of_a_prefix_is_a_prefix_of_the_log() -> None:
    texts = ("Never use emojis.", "Always answer in German.", "You can use emojis again.")
    assert log_of(*texts[:2]).statements == log_of(*texts).statements[:2]
