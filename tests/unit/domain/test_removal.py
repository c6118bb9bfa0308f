"""A breadcrumb is taken off by a later version, by a tombstone, and with the source that it was made from."""

import json
from collections.abc import Sequence

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.removal import ids_by_session, is_same, made_from, removed_by, replaced_by
from tests.factories import make_breadcrumb


def summary(identity: str, covers: Sequence[str] = (), text: str = "") -> Breadcrumb:
    body = json.dumps({"lines": [{"text": text}], "covered": list(covers)})
    return make_breadcrumb("", schema="summary.v1", id=identity, covers=tuple(covers), body=body)


def test_a_tombstone_removes_what_came_before_it_in_its_session_or_in_none() -> None:
    crumb = make_breadcrumb(sequence=2, id="m1")
    for session, sequence, removes in (("s42", 3, True), (NO_SESSION, 3, True), ("s43", 3, False), ("s42", 1, False)):
        tombstone = make_breadcrumb("", sequence, id="t1", session=session, removes="m1")
        assert removed_by(crumb, tombstone) is removes


def test_a_tombstone_of_another_workspace_removes_nothing() -> None:
    assert not removed_by(make_breadcrumb(id="m1"), make_breadcrumb("", 2, id="t1", workspace="other", removes="m1"))


def test_a_higher_version_replaces_a_lower_one_whichever_came_first() -> None:
    first, second = make_breadcrumb(sequence=5, id="m1"), make_breadcrumb(sequence=4, id="m1", version=2)
    assert replaced_by(first, second)
    assert not replaced_by(second, first)
    assert is_same(first, second)


def test_a_summary_goes_with_what_it_covers_and_one_of_it_goes_too() -> None:
    chain = (summary("z1", ["m1"]), summary("z2", ["m2"], text="z1"), summary("z3", ["m3"]))
    assert [crumb.id for crumb in made_from(chain, ["m1"])] == ["z1", "z2"]


def test_a_summary_that_names_an_id_anywhere_in_its_body_was_made_from_it() -> None:
    assert [crumb.id for crumb in made_from([summary("z1", ["m2"], text="m1")], ["m1"])] == ["z1"]


def test_nothing_else_than_summaries_is_made_from_others() -> None:
    assert made_from([make_breadcrumb(id="m2", covers=("m1",))], ["m1"]) == ()
    assert made_from([summary("z1", ["m1"])], ["z1"]) == ()


def test_ids_are_listed_by_workspace_and_session() -> None:
    crumbs = [make_breadcrumb(id="m1"), make_breadcrumb(id="m2"), make_breadcrumb(id="m1", session="s43")]
    assert ids_by_session(crumbs) == {("acme", "s42"): {"m1", "m2"}, ("acme", "s43"): {"m1"}}
