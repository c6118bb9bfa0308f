"""What one consumer may see: its own conversation, nothing excluded, nothing that has ended."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from builder.assemble.budget.limits import window_size
from builder.domain.profile import Profile
from builder.domain.selector import Selector
from builder.domain.stored import StoredBreadcrumb
from builder.recall.index.conversation import turns
from builder.recall.index.view import View
from builder.recall.recall import of_person, visible_to
from tests.conversations import answered, bash, replied, requested, said
from tests.factories import MORNING, make_history, make_profile, make_remembered, make_turn, make_view, view_of

TRIGGER = make_remembered("And now?", 99, task="kiln")


def seen(rows: list[StoredBreadcrumb], profile: Profile | None = None, *excluded: Selector) -> View:
    return visible_to(make_view(rows), profile or make_profile(), TRIGGER.breadcrumb, excluded)


def window(view: View) -> list[list[str]]:
    """Ids of each entry of the conversation, oldest first."""
    entries = (entry for turn in reversed(list(turns(view))) for entry in turn)
    return [[view.breadcrumb(row).id for row in entry.rows] for entry in entries]


def test_with_nothing_to_hide_the_view_is_the_same_for_each_agent() -> None:
    view = make_view(["Hello.", "Hello, Ana."])
    assert visible_to(view, make_profile(agent="ana"), TRIGGER.breadcrumb, ()) == replace(view, agent="ana")


def test_a_character_hears_only_what_is_said_to_it() -> None:
    rows = [
        make_remembered("Mira, open the door.", 1, tags=("to:mira",)),
        make_remembered("Otto, wait outside.", 2, tags=("to:otto",)),
        make_remembered("Everybody, listen.", 3, tags=("to:mira", "to:otto")),
    ]
    assert window(seen(rows, make_profile(audience=Selector(any_tags=("to:mira",))))) == [["m1"], ["m3"]]


def test_the_window_of_a_character_jumps_by_its_own_conversation() -> None:
    rows = [make_remembered(f"Line {n}.", n, tags=("to:mira",) if n % 2 else ()) for n in range(1, 61)]
    view = seen(rows, make_profile(audience=Selector(all_tags=("to:mira",))))
    assert view.units == 30
    assert window_size(view.units, replace(make_profile().window, max_units=20, trim_to=10)) == 10 + (30 - 21) % 11


def test_a_tool_result_without_tags_belongs_to_the_call_that_is_heard() -> None:
    call = replied(1, "Let me look.", bash("r1", "ls"), tags=["to:mira"])
    rows = [call, answered(2, "r1", "two doors"), answered(3, "r2", "three windows")]
    assert window(seen(rows, make_profile(audience=Selector(any_tags=("to:mira",))))) == [["m1"], ["m1", "m2"]]


def test_a_sub_agent_sees_its_own_task_only() -> None:
    rows = [make_remembered("Fire it.", 1, task="kiln"), make_remembered("Glaze it.", 2, task="glaze"), make_turn("Hm.", 3)]
    assert window(seen(rows, make_profile(scope_to_task=True))) == [["m1"]]


def test_what_has_ended_is_gone_from_its_moment_on() -> None:
    asked_at = TRIGGER.breadcrumb.received_at
    over = make_remembered("The shop is closed today.", 1, expires_at=asked_at)
    still = make_remembered("The shop is open today.", 2, expires_at=asked_at + timedelta(microseconds=1))
    assert window(seen([over, still])) == [["m2"]]


def test_an_ended_result_leaves_its_call_and_the_message() -> None:
    result = answered(3, "r1", "two doors", expires_at=MORNING.isoformat())
    view = seen([replied(1, "Let me look.", bash("r1", "ls")), requested(2, "r1", command="ls"), result])
    assert window(view) == [["m1"], ["m1"]]
    assert [(entry.is_answered, entry.results) for turn in turns(view) for entry in turn] == [(False, ()), (True, ())]


def test_an_older_version_that_has_ended_takes_nothing_with_it() -> None:
    ended = replied(1, "Let me look.", bash("r1", "ls"), expires_at=MORNING.isoformat())
    again = replied(3, "I look again.", bash("r1", "ls"), id="m1", version=2)
    assert window(seen([ended, answered(2, "r1", "two doors"), again])) == [["m1"], ["m1", "m2"]]


def test_a_blacklist_leaves_out_schemas_tags_and_ids() -> None:
    rows = [said(1, "One."), said(2, "Two.", tags=["draft"]), replied(3, "Three."), said(4, "Four.")]
    excluded = (Selector(schemas=("agent.response.v1",)), Selector(any_tags=("draft",)), Selector(ids=("m4",)))
    assert window(seen(rows, None, *excluded)) == [["m1"]]


def people(*rows: tuple[str, str]) -> View:
    """Messages of (session, user), seen from s42."""
    crumbs = [make_remembered(f"Words {n}.", n, session=session, user_id=user) for n, (session, user) in enumerate(rows, 1)]
    return view_of(make_history(crumbs))


def visible_rows(view: View) -> list[int]:
    return np.flatnonzero(view.current).tolist()


def test_of_other_sessions_a_person_sees_only_the_own_part_and_all_of_the_own_session() -> None:
    view = people(("s1", "ada"), ("s1", "bob"), ("s42", "bob"), ("s2", ""), ("_", "bob"), ("_", ""))
    assert visible_rows(of_person(view, "ada")) == [0, 2, 5]
    assert visible_rows(of_person(view, "carl")) == [2, 5]


def test_what_is_private_is_hidden_from_other_sessions() -> None:
    rows = [
        make_remembered(f"Words {n}.", n, session=session, user_id="ada", private=True) for n, session in ((1, "s1"), (2, "s42"))
    ]
    assert visible_rows(of_person(view_of(make_history(rows)), "ada")) == [1]


def test_what_is_hidden_takes_only_itself_and_a_hidden_call_its_results() -> None:
    rows = [answered(1, "r1", "eins"), replied(2, "Ich lese beide.", bash("r1", "a"), bash("r2", "b")), answered(3, "r2", "zwei")]
    assert window(seen(rows, None, Selector(ids=("m3",)))) == [["m2"], ["m2", "m1"], ["m2"]]
    assert window(seen(rows, None, Selector(ids=("m2",)))) == []


def test_an_untagged_result_or_a_call_passed_on_makes_the_call_of_no_other_task_visible() -> None:
    search = replied(1, "Ich suche.", bash("r1", "zug"), tags=["task:zug"])
    rows = [search, requested(2, "r1", command="zug"), answered(3, "r1", "Nachtzug um 23 Uhr."), replied(4, "Ich helfe.")]
    profile = make_profile(scope_to_task=True)
    of_task = {
        name: visible_to(make_view(rows), profile, make_remembered("?", 99, task=name).breadcrumb, ()) for name in ("", "zug")
    }
    assert {name: window(view) for name, view in of_task.items()} == {"": [["m4"]], "zug": [["m1"], ["m1", "m3"]]}
