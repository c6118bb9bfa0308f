"""The sessions of `bench answers` hold what their questions ask, and a page is judged by what it holds."""

import re
from collections import Counter
from pathlib import Path

import pytest

from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.settings import EmbeddingSettings, Settings
from builder.bench.data.answer_sessions import Question, Session, load, parse
from builder.bench.quality import answers
from builder.bench.scratch import encoder
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Misconfigured

SESSIONS = load()
TOKENS = range(5_900, 12_000)
"""Of a session: no page of 4,000 holds it."""
TALK = 6_000
"""Tokens at least of what people and agents say in a session: a page of 4,000 holds no whole talk, with the tables left out."""
LIST = 40
"""Lines from which a message is a list that a program made, whoever pasted it."""
MOST = 5
"""Messages that say what one pattern asks for: what stands everywhere tells nothing."""
TINY = """
language: en
work: a shed
held_out: false
agents: [Planner]
messages:
  - {id: m1, at: 2026-03-02T09:00:00+00:00, from: user, text: The shed will be green.}
  - {id: m2, at: 2026-03-02T09:01:00+00:00, from: Planner, text: Green it is., calls: [{requestId: c1, tool: paint}]}
  - {id: m3, at: 2026-03-02T09:02:00+00:00, from: tool, text: 12 litres, result_of: c1}
  - {id: m4, at: 2026-03-02T09:03:00+00:00, from: Ann, text: No. The shed will be blue.}
questions:
  - {kind: superseded, text: Which colour?, needs: [be blue], misleads: [be green]}
  - {kind: superseded, text: And which colour then?, after: m3, needs: [be blue], misleads: [be green]}
  - {kind: several, text: How much of what?, from: Ann, needs: ['12  litres|12 LITRES', tinned]}
  - {kind: never, text: Who paints it?}
"""


def said(session: Session, pattern: str) -> list[int]:
    """Numbers of the messages in which it is found, as on a page."""
    texts = [" ".join(message.text.split()) for message in session.messages]
    return [number for number, text in enumerate(texts) if re.search(pattern, text, re.IGNORECASE)]


def tokens_of(texts: list[str]) -> int:
    """As o200k_base counts them, a line each."""
    return len(encoder("o200k_base")("\n".join(texts)))


def test_the_set_has_the_sessions_that_it_should_have() -> None:
    kinds = Counter(question.kind for session in SESSIONS for question in session.questions)
    aside = [session for session in SESSIONS if session.held_out]
    assert len(SESSIONS) >= 14
    assert 2 * len(aside) == len(SESSIONS)
    assert kinds.total() >= 160
    assert sum(bool(question.after) for session in SESSIONS for question in session.questions) >= 10
    assert all(question.misleads for session in SESSIONS for question in session.questions if question.kind == "never")
    assert kinds.keys() == {"far", "superseded", "several", "time", "assistant", "order", "never"}
    assert {session.language for session in SESSIONS} == {"en", "de", "es", "ru", "fr"}
    assert {"en", "de", "ru"} == {each.language for each in aside} & {each.language for each in SESSIONS if not each.held_out}
    assert sum(bool(session.observations) for session in SESSIONS) >= 6


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_session_says_what_its_questions_need_and_fits_no_page(session: Session) -> None:
    """A need is told by few messages and never by the question itself; what misleads was said before what replaced it.

    What a question in the middle of the session needs was said before it. What misleads where nothing answers does so in one
    message and no longer with the whole session, which tells the two things apart.
    """
    talk = [message.text for message in session.messages if message.speaker != "tool" and message.text.count("\n") < LIST]
    assert tokens_of(talk) >= TALK
    assert tokens_of([message.text for message in session.messages]) in TOKENS
    numbered = {message.id: number for number, message in enumerate(session.messages)} | {"": len(session.messages)}
    whole = " ".join(" ".join(message.text for message in session.messages).split())
    for question in session.questions:
        needs = [said(session, pattern.pattern) for pattern in question.needs]
        assert all(1 <= len(numbers) <= MOST for numbers in needs), question
        assert bool(needs) == (question.kind != "never"), question
        assert not any(re.search(pattern.pattern, question.text, re.IGNORECASE) for pattern in question.needs), question
        if question.kind == "superseded":
            misleads = [min(said(session, pattern.pattern)) for pattern in question.misleads]
            assert min(misleads) < max(map(min, needs)), question
        assert all(min(numbers) <= numbered[question.after] for numbers in needs), question
        if question.kind == "never":
            assert all(1 <= len(said(session, pattern.pattern)) <= 2 for pattern in question.misleads), question
            assert not any(re.search(pattern.pattern, whole, re.IGNORECASE) for pattern in question.misleads), question


def test_what_a_session_refers_to_is_there() -> None:
    for session in SESSIONS:
        messages = [message.id for message in session.messages]
        notes = [note.id for note in session.observations]
        times = [message.at for message in session.messages]
        calls = [call.request_id for message in session.messages for call in message.calls]
        assert all(len(set(ids)) == len(ids) for ids in (messages, notes, calls)), session.name
        assert {id_ for note in session.observations for id_ in note.stands_for} <= set(messages), session.name
        assert {id_ for note in session.observations for id_ in note.replaces} <= set(notes), session.name
        assert [message.result_of for message in session.messages if message.speaker == "tool"] == calls, session.name
        assert {question.speaker for question in session.questions} <= {message.speaker for message in session.messages}
        assert times == sorted(times), session.name


async def test_a_page_is_right_when_it_holds_all_that_is_needed_and_misleads_with_the_old_alone(tmp_path: Path) -> None:
    sessions = (parse("shed", TINY), parse("aside", TINY.replace("held_out: false", "held_out: true")))

    async def summarise(_end: Breadcrumb) -> None:
        """Nothing: the session is short."""

    async with open_components(Settings(embedding=EmbeddingSettings(engine="none")), location(IN_MEMORY)) as core:
        report = await answers.run(core.builder, sessions, core.profile("default"), (300, 600), lambda: None, summarise, tmp_path)
    right, misleading = report["budgets"]["300"], report["by_kind"]["superseded"]
    assert (right["right"], right["misleading"], right["insufficient"]) == (2, 1, 1)
    assert misleading == {"questions": 2, "300": "1 / 1", "600": "1 / 1"}
    assert report["held_out"] == {"questions": 4, "budgets": report["budgets"]}
    kept = {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()}
    assert len(kept) == 2 * 4
    assert kept["shed-02-300.md"].startswith("misleading, ")
    assert "superseded: And which colour then?" in kept["shed-02-300.md"]


def test_the_question_itself_is_no_answer() -> None:
    question = Question(kind="far", text="Was it 42?", needs=(re.compile("42"),))
    assert answers.verdict(question, "## Current\n- User: Was it 42?\n") == "insufficient"
    assert answers.verdict(question, "- Ann: 42 it is\n\n- User: Was it 42?\n") == "right"


def test_a_wrong_file_is_told_by_its_fields() -> None:
    with pytest.raises(Misconfigured, match=r"answers/shed.yaml .* messages.0.mood: Extra .*; questions.0.kind: "):
        parse(
            "shed",
            TINY.replace("green.}", "green., mood: good}").replace("kind: superseded, text: Which", "kind: old, text: Which"),
        )
    with pytest.raises(Misconfigured, match="no session is named 'kitchen'; write one of achats, bikes"):
        load("kitchen")
