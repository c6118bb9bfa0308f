"""Several sessions in one history: each keeps its own neighbours, episodes, units and hot window."""

from datetime import timedelta

import numpy as np

from builder.domain.profile import Profile
from builder.domain.recall import EVERY_SESSION, Scope
from builder.domain.stored_breadcrumb import StoredBreadcrumb
from builder.recall.index.conversation import turns
from builder.recall.scopes import scope_of, scopes
from builder.recall.search import signals
from tests.factories import (
    MORNING,
    make_breadcrumb,
    make_context,
    make_history,
    make_profile,
    make_query,
    make_remembered,
    make_tombstone,
    view_of,
)

KILN, RAIN = "We fired the kiln in Delft.", "It rained all afternoon."


def interleaved() -> list[StoredBreadcrumb]:
    """Session s1 says A, B, C; session s2 talks in between."""
    texts = [
        ("s1", "Which kiln is it?"),
        ("s2", RAIN),
        ("s1", "The blue one."),
        ("s2", "Bring a coat."),
        ("s1", "It dries by Friday."),
    ]
    return [make_remembered(text, n, session=session) for n, (session, text) in enumerate(texts, 1)]


def test_neighbours_are_of_the_own_session_whoever_else_speaks_in_between() -> None:
    view = view_of(make_history(interleaved()), session="s1")
    assert view.prefix.neighbours.before.tolist() == [-1, -1, 0, 1, 2]
    assert view.prefix.neighbours.after.tolist() == [2, 3, 4, -1, -1]
    found = signals.context_words(make_query("Which kiln?"), view)
    assert found[2] > 0 == found[1] == found[3]


def test_a_later_neighbour_is_unknown_as_of_an_earlier_place() -> None:
    rows = interleaved()
    history = make_history(rows)
    for end, row in enumerate(rows):
        alone, within = view_of(make_history(rows[:end])), view_of(history, row.breadcrumb.place)
        np.testing.assert_array_equal(alone.prefix.neighbours.after, within.prefix.neighbours.after)
        np.testing.assert_array_equal(alone.prefix.neighbours.before, within.prefix.neighbours.before)


def test_signals_of_a_session_do_not_change_when_others_are_looked_at_too() -> None:
    texts = ["Where is the kiln?", KILN, "Is it dry?", RAIN, "See you in Delft."]
    mine = [make_remembered(text, 2 * n, session="s1") for n, text in enumerate(texts, 1)]
    others = [make_remembered("A word.", 2 * n + 1, session="s2") for n in range(1, 6)]
    both_sessions: list[StoredBreadcrumb] = sorted([*mine, *others], key=lambda row: row.breadcrumb.place)
    query = make_query("Where did we fire the kiln?")
    alone = view_of(make_history(mine), session="s1")
    both = view_of(make_history(both_sessions), session="s1")
    own = both.of_breadcrumb(both.history.breadcrumbs.session) == both.session
    for signal in (signals.similarity, signals.window_similarity, signals.asks, signals.log_tokens):
        np.testing.assert_allclose(signal(query, both)[own], signal(query, alone), atol=1e-6)


def test_the_conversation_is_the_own_sessions() -> None:
    history = make_history(interleaved())
    for session, said in (("s1", [0, 2, 4]), ("s2", [1, 3]), ("s3", [])):
        assert [entry.row for turn in turns(view_of(history, session=session)) for entry in turn] == said[::-1]
    assert [view_of(history, session=name).units for name in ("s1", "s2", "s3")] == [3, 2, 0]


def test_a_gap_in_one_session_ends_no_episode_of_another() -> None:
    late = MORNING + timedelta(hours=9)
    moments = [("s1", MORNING), ("s2", MORNING), ("s2", late), ("s1", MORNING + timedelta(hours=5)), ("s1", late)]
    rows = [make_remembered("Hello.", n, session=session, created_at=moment) for n, (session, moment) in enumerate(moments, 1)]
    assert view_of(make_history(rows)).history.breadcrumbs.episode.head(5).tolist() == [0, 1, 2, 0, 0]


def test_a_tool_call_of_one_session_never_meets_a_result_of_another() -> None:
    rows = [
        make_remembered("", 1, schema="tool.request.v1", session="s1", calls=("r1",)),
        make_remembered("", 2, schema="tool.response.v1", session="s2", calls=("r1",)),
        make_remembered("", 3, schema="tool.response.v1", session="s1", calls=("r1",)),
    ]
    view = view_of(make_history(rows), session="s1")
    assert view.members(0) == (0, 2)
    assert view.members(1) == (1,)


def test_a_tombstone_counts_in_its_own_session_or_from_none() -> None:
    said = [make_remembered(KILN, n, session="s1", id=f"m{n}") for n in (1, 2)]
    elsewhere = make_tombstone("m1", 3, session="s2", id="t1")
    from_none = make_tombstone("m2", 4, session="_", id="t2")
    view = view_of(make_history([*said, elsewhere, from_none]))
    assert view.current[:2].tolist() == [True, False]


def test_a_profile_says_where_it_looks_and_the_own_session_is_always_part_of_it() -> None:
    trigger = make_breadcrumb(session="s5")
    where = {
        "session": ("s5",),
        "workspace": (EVERY_SESSION,),
        ("s9", "s1"): ("s1", "s5", "s9"),
        ("s5",): ("s5",),
    }
    profiles = tuple(make_profile(retrieval={"scope": scope}) for scope in where)
    assert [scope_of(trigger, profile).sessions for profile in profiles] == list(where.values())
    notes = ("note.v1",)
    assert scopes(trigger, profiles) == (
        Scope(workspace="acme", sessions=("s5",), shared=notes),
        Scope(workspace="acme", sessions=(EVERY_SESSION,)),
        Scope(workspace="acme", sessions=("s1", "s5", "s9"), shared=notes),
    )


def test_another_sessions_instructions_neither_rule_the_page_nor_supersede_the_own() -> None:
    rows = [
        make_remembered("Always answer in English, please.", 1, session="s1"),
        make_remembered("From now on always answer in German.", 2, session="s2"),
        *(make_remembered(f"The kiln of order {n} is dry.", n, session="s1") for n in range(3, 40)),
    ]
    profile = make_profile(budget=400, retrieval={"scope": "workspace"})
    context = make_context(make_remembered("Is the kiln dry?", 99, session="s1"), rows, profile)
    conversation_rows = {section.name: section.ids for section in context.sections}
    assert conversation_rows["instructions"] == ("m1",)


def test_small_talk_at_the_end_of_another_session_is_no_passage_of_the_question_that_it_repeats() -> None:
    rows = [*interleaved(), make_remembered("Sounds good?", 6, session="s1"), make_remembered("Sounds good!", 7, session="s2")]
    context = make_context(make_remembered("Who said that it sounds good?", 99, session="s1"), rows, _wide())
    assert context.tokens <= context.budget


def test_an_edit_in_another_session_joins_no_unit() -> None:
    rows = [
        make_remembered(KILN, 1, session="s1", id="same"),
        make_remembered(RAIN, 2, session="s2", id="same", version=2),
    ]
    view = view_of(make_history(rows), session="s2")
    assert view.members(0) == (0,)
    assert view.units == 1


def _wide() -> Profile:
    return make_profile(retrieval={"scope": "workspace", "min_probability": None}, window={"max_units": 0, "trim_to": 0})
