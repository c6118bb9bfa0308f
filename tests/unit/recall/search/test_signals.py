"""Every signal alone: what it finds and what it leaves alone."""
# ruff: noqa: RUF001 - words of many scripts

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.breadcrumb_table import Floats
from builder.recall.index.view import View
from builder.recall.search import signals
from builder.recall.search.query import Query
from builder.recall.search.signals import SIGNALS
from tests.factories import MORNING, bare, make_history, make_place, make_query, make_remembered, make_view, view_of

Signal = Callable[[Query, View], Floats]

CHAT = [
    "Where did you buy the kiln?",
    "From the potter in Delft.",
    "Nice and sturdy.",
    "The cat is asleep.",
    "It rains again.",
    "Good night, moon.",
]


def best(values: Floats) -> int:
    return int(values.argmax())


def days(*episodes: list[str]) -> View:
    """Sittings a day apart."""
    texts = [(day, text) for day, episode in enumerate(episodes) for text in episode]
    return make_view(
        make_remembered(text, n, created_at=MORNING + timedelta(days=day, minutes=n)) for n, (day, text) in enumerate(texts)
    )


def test_context_words_find_the_passage_that_holds_them() -> None:
    assert best(signals.context_words(make_query("Is the cat awake?"), make_view(CHAT))) == 3


def test_context_words_find_an_answer_by_the_question_before_it() -> None:
    found = signals.context_words(make_query("kiln"), make_view(CHAT))
    assert found[0] > found[1] > 0
    assert (found[2:] == 0).all()


def test_context_words_find_a_question_by_the_answer_after_it() -> None:
    found = signals.context_words(make_query("Delft"), make_view(CHAT))
    assert found[1] > found[0] > 0
    assert found[2] > 0 == found[3]


def test_rare_words_count_more_than_common_ones() -> None:
    view = make_view(text for state in ("red", "wet", "celadon", "dry") for text in (f"The glaze is {state}.", "It rains."))
    assert best(signals.context_words(make_query("celadon glaze"), view)) == 4


def test_words_that_nobody_used_score_nothing() -> None:
    assert not signals.context_words(make_query("zeppelin"), make_view(CHAT)).any()
    assert not signals.episode_words(make_query("zeppelin"), make_view(CHAT)).any()


def test_episode_words_raise_the_whole_day_on_which_they_were_said() -> None:
    view = days(["We fire the kiln.", "At cone six."], ["I slept badly.", "So did I."])
    found = signals.episode_words(make_query("kiln"), view)
    assert found[0] == found[1] > found[2] == found[3] == 0


def test_similarity_is_the_cosine_of_the_vectors() -> None:
    found = signals.similarity(make_query("The cat is asleep."), make_view(CHAT))
    assert found[3] == pytest.approx(1, abs=1e-3)
    assert best(found) == 3


def test_similarity_is_unknown_where_there_is_no_vector() -> None:
    view = make_view(["The cat is asleep.", "?!", "The dog sleeps."])
    found = signals.similarity(make_query("cat"), view)
    assert np.isnan(found).tolist() == [False, True, False]
    assert np.isnan(signals.similarity(make_query("?!"), view)).all()
    assert np.isnan(signals.similarity(make_query("cat"), make_view(["?!"]))).all()


def test_a_window_is_made_of_the_vectors_that_there_are() -> None:
    rows = [make_remembered(text, n, speaker=("Ana", "Ben")[n % 2]) for n, text in enumerate(CHAT, 1)]
    query = make_query("The cat is asleep.")
    gap = make_view([bare(row) if number in {2, 4} else row for number, row in enumerate(rows)])
    alone = make_view([rows[3]])
    own = signals.similarity(query, gap)
    found = signals.window_similarity(query, gap)
    assert found[3] == pytest.approx(signals.window_similarity(query, alone)[0])
    assert found[5] == pytest.approx(own[5])
    assert found[4] > found[5]


def test_where_one_alone_has_spoken_neighbours_say_nothing_of_each_other() -> None:
    facts = [make_remembered(text, n, speaker="Ana") for n, text in enumerate(("My dog is old.", "The kiln is hot."), 1)]
    answered = [*facts, make_remembered("Noted.", 3, speaker="Ben")]
    query = make_query("the dog")
    assert signals.context_words(query, make_view(facts))[1] == 0
    assert signals.context_words(query, make_view(answered))[1] > 0
    assert signals.window_similarity(query, make_view(facts)).tolist() == pytest.approx(
        signals.similarity(query, make_view(facts)).tolist(), abs=1e-3
    )


def test_a_window_without_any_vector_is_unknown() -> None:
    rows = [make_remembered(text, n, speaker=("Ana", "Ben")[n % 2]) for n, text in enumerate(CHAT, 1)]
    found = signals.window_similarity(make_query("The cat is asleep."), make_view([*map(bare, rows[:3]), *rows[3:]]))
    assert np.isnan(found).tolist() == [True, True, *[False] * (len(rows) - 2)]


def test_the_one_person_named_is_preferred() -> None:
    view = make_view([make_remembered("I sing.", 1, speaker="Ana"), make_remembered("I dance.", 2, speaker="Bob")])
    assert signals.speaker(make_query("Does Ana sing?", ("Ana", "Bob")), view).tolist() == [1, 0]


@pytest.mark.parametrize("question", ["Who sings?", "Do Ana and Bob sing?", "Does Carl sing?"])
def test_nobody_is_preferred_when_nobody_or_several_are_named(question: str) -> None:
    view = make_view([make_remembered("I sing.", 1, speaker="Ana"), make_remembered("I dance.", 2, speaker="Bob")])
    assert signals.speaker(make_query(question, ("Ana", "Bob", "Carl")), view).tolist() == [0.5, 0.5]


def test_longer_messages_score_higher_slowly() -> None:
    found = signals.log_tokens(make_query(""), make_view(["Ice.", "A much longer message about the ice.", "?"]))
    assert found[1] > found[0] > 0 == found[2]


@pytest.mark.parametrize("text", ["When?", "何時？", "متى؟", "When? \n"])
def test_questions_are_known_by_their_mark(text: str) -> None:
    assert signals.asks(make_query(""), make_view([text, "When? Today."])).tolist() == [1, 0]


def test_pair_words_join_a_passage_with_the_one_before_it() -> None:
    found = signals.pair_words(make_query("kiln"), make_view(CHAT))
    assert found[0] > 0
    assert found[1] > 0
    assert not found[2:].any()


def test_window_similarity_is_the_cosine_of_the_vector_of_the_window() -> None:
    query, view = make_query("Did the cat from Delft rain?"), make_view([*CHAT, "The cat ran."])
    own = view.prefix.vectors
    assert own is not None
    windows = own.copy()
    windows[1:] += own[:-1] / 2
    windows[:-1] += own[1:] / 2
    asked = np.frombuffer(query.vector, "<f2").astype(np.float32)
    expected = windows @ asked / np.maximum(np.linalg.norm(windows, axis=1), 0.5)
    np.testing.assert_allclose(signals.window_similarity(query, view), expected, atol=2e-3)


def test_a_date_in_the_question_finds_its_day() -> None:
    view = days(["We fired the kiln."], ["It rained."], ["We rested."])
    found = signals.date(make_query("What happened on 9 May 2024?"), view)
    assert best(found) == 1
    assert found[1] == 1 > found[0] > 0
    assert not signals.date(make_query("What happened?"), view).any()


def test_a_question_for_a_time_prefers_what_tells_one() -> None:
    view = make_view(["We met yesterday.", "We met in Delft."])
    assert signals.answers_when(make_query("When did you meet?"), view).tolist() == [1, 0]
    assert signals.answers_where(make_query("Where did you meet?"), view).tolist() == [0, 1]
    assert signals.tells_time(make_query("Whom did you meet?"), view).tolist() == [1, 0]
    assert not signals.answers_when(make_query("Whom did you meet?"), view).any()
    assert not signals.answers_where(make_query("Whom did you meet?"), view).any()


def test_what_a_person_said_is_told_from_what_an_assistant_said() -> None:
    view = make_view(["Always answer in French.", "I will always answer in French.", "The kiln is hot."])
    assert signals.user_said(make_query(""), view).tolist() == [1, 0, 1]
    assert signals.instructs(make_query(""), view).tolist() == [1, 0, 0]


@pytest.mark.parametrize("signal", [signal for signal, _ in SIGNALS.values()])
def test_a_signal_gives_one_number_a_passage_and_none_for_an_empty_session(signal: Signal) -> None:
    long = "The kiln is hot and the glaze is dry. " * 40
    view = make_view([long, "Short.", ""])
    found = signal(make_query("When was the kiln in Delft hot, in May?"), view)
    assert found.shape == (view.passages,)
    assert found.dtype == np.float32
    assert view.passages > 3
    assert signal(make_query("kiln"), make_view([])).shape == (0,)


@pytest.mark.parametrize("signal", [signal for signal, _ in SIGNALS.values()])
def test_a_signal_does_not_see_what_came_later(signal: Signal) -> None:
    query = make_query("When was the kiln in Delft hot, Ana, in May?", ("Ana",))
    before = signal(query, view_of(make_history(CHAT), make_place(5)))
    after = signal(query, view_of(make_history([*CHAT, *["The kiln, the kiln in Delft yesterday."] * 70]), make_place(5)))
    np.testing.assert_array_equal(before, after)


def test_signals_of_a_session_do_not_change_when_others_are_looked_at_too() -> None:
    texts = ["Where is the kiln?", "We fired the kiln in Delft.", "Is it dry?", "It rained all afternoon.", "See you in Delft."]
    mine = [make_remembered(text, 2 * n, session="s1") for n, text in enumerate(texts, 1)]
    others = [make_remembered("A word.", 2 * n + 1, session="s2") for n in range(1, 6)]
    both_sessions: list[StoredBreadcrumb] = sorted([*mine, *others], key=lambda row: row.breadcrumb.place)
    query = make_query("Where did we fire the kiln?")
    alone = view_of(make_history(mine), session="s1")
    both = view_of(make_history(both_sessions), session="s1")
    own = both.session_of[both.crumb] == both.session
    for signal in (signals.similarity, signals.window_similarity, signals.asks, signals.log_tokens):
        np.testing.assert_allclose(signal(query, both)[own], signal(query, alone), atol=1e-6)
