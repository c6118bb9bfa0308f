"""The sessions of `bench pages` hold what their questions ask, and their chatter answers none of them."""

import re
from collections import Counter

import pytest

from builder.adapters.tokens import load_counter
from builder.bench.data.answer_sessions import Session
from builder.bench.data.work_sessions import GENERATED, load, parse
from builder.domain.errors import Misconfigured

SESSIONS = load()
LENGTHS, LONG = range(7_000, 70_000), 16_000
"""Tokens of a session, and those from which it is a long one."""
TINY = """
language: en
work: a pond
held_out: false
start: 2026-03-02T09:00:00+00:00
days: 2
exchanges: 4
messages:
  - {from: user, text: The pond has nine carp., place: 0}
  - {from: assistant, text: I count., tool: count, input: {of: carp}, result: nine, place: 1}
chatter: [[{from: user, text: 'Rain on {day}, sun on {day2}, {n} mm.'}, {from: assistant, text: 'So {day} was wet.'}]]
slots: {day: [Monday, Friday], n: {low: 1, high: 9, width: 3}}
questions: [{kind: far, text: How many fish?, needs: [nine carp]}]
"""


def folded(text: str) -> str:
    return " ".join(text.split())


def saying(session: Session, pattern: str) -> list[str]:
    """Ids of the messages in which it is found, as on a page."""
    return [message.id for message in session.messages if re.search(pattern, folded(message.text), re.IGNORECASE)]


def test_the_set_has_the_sessions_and_questions_that_it_should_have() -> None:
    kinds: Counter[str] = Counter(question.kind for session in SESSIONS for question in session.questions)
    least = {"broad": 12, "follow_up": 12, "rule": 8, "never": 10, "superseded": 15, "far": 10}
    assert [len(session.questions) for session in SESSIONS] == [6] * 15
    assert Counter(session.language for session in SESSIONS) == {"en": 7, "de": 2, "fr": 2, "es": 2, "it": 1, "ja": 1}
    assert kinds.keys() == {*least, "several", "list"}
    assert kinds >= Counter(least)
    assert sum(session.held_out for session in SESSIONS) == 7


def test_eleven_sessions_are_short_and_four_long_of_which_two_are_much_longer() -> None:
    count = load_counter("o200k_base")
    lengths = [sum(count(message.text) for message in session.messages) for session in SESSIONS]
    assert all(length in LENGTHS for length in lengths)
    assert (sum(length < LONG for length in lengths), sum(length > 2 * LONG for length in lengths)) == (11, 2)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_people_said_what_a_question_needs_and_chatter_never_does(session: Session) -> None:
    """What misleads where nothing answers does so in a message alone, and no longer with the whole session."""
    whole = folded(" ".join(message.text for message in session.messages))
    for question in session.questions:
        told = [saying(session, pattern.pattern) for pattern in (*question.needs, *question.misleads)]
        assert all(1 <= len(ids) <= 5 for ids in told), question
        assert not any(id_.startswith(GENERATED) for ids in told for id_ in ids), question
        assert not any(re.search(pattern.pattern, question.text, re.IGNORECASE) for pattern in question.needs), question
        assert bool(question.needs) == (question.kind != "never"), question
        assert bool(question.misleads) == (question.kind in {"never", "superseded"}), question
        if question.kind == "never":
            assert not any(re.search(pattern.pattern, whole, re.IGNORECASE) for pattern in question.misleads), question
        if question.kind == "follow_up":
            assert told[0][-1] in {message.id for message in session.messages[-3:]}, question


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_message_has_one_id_and_a_call_one_result_and_time_runs_forward(session: Session) -> None:
    times, ids = [message.at for message in session.messages], [message.id for message in session.messages]
    results = [message.result_of for message in session.messages if message.speaker == "tool"]
    assert len(set(ids)) == len(ids)
    assert results == [call.request_id for message in session.messages for call in message.calls]
    assert times == sorted(times)
    assert {question.speaker for question in session.questions} <= {message.speaker for message in session.messages}
    assert "{" not in "".join(message.text for message in session.messages if message.speaker != "tool")


def test_the_same_file_makes_the_same_session() -> None:
    assert load("remo") == load("remo") == tuple(session for session in SESSIONS if session.name == "remo")
    assert (tiny := parse("pond", TINY)) == parse("pond", TINY)
    assert [tiny.messages[number].text for number in (0, -2, -1)] == ["The pond has nine carp.", "I count.", "nine"]
    pattern = r"Rain on (Monday, sun on Friday|Friday, sun on Monday), 00\d mm\."
    assert all(re.fullmatch(pattern, message.text) for message in tiny.messages[1:9:2])
    assert [message.at.day for message in tiny.messages] == [2] * 6 + [3] * 5


def test_a_wrong_field_is_told_with_the_name_of_the_file() -> None:
    for wrong in (TINY.replace("days: 2", "weeks: 2"), TINY.replace("kind: far", "kind: near"), TINY.replace("{n} mm", "{m} mm")):
        with pytest.raises(Misconfigured, match=r"work/pond\.yaml is not a session: .*(weeks|kind|'m')"):
            parse("pond", wrong)
    with pytest.raises(Misconfigured, match="no session is named 'lake'; write one of anamnesis, "):
        load("lake")
