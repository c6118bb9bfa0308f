"""A summary is erased with what it was made from."""

import json
from collections.abc import Sequence

from builder.adapters.sql.derivation import ids_by_session, made_from
from builder.domain.breadcrumb import Breadcrumb
from tests.factories import make_breadcrumb


def summary(identity: str, covers: Sequence[str] = (), text: str = "") -> Breadcrumb:
    body = json.dumps({"lines": [{"text": text}], "covered": list(covers)})
    return make_breadcrumb("", schema="summary.v1", id=identity, covers=tuple(covers), body=body)


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
