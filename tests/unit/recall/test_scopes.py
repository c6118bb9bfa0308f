"""Where the contexts of a trigger are looked for."""

from builder.domain.recall import EVERY_SESSION, Scope
from builder.recall.scopes import scope_of, scopes_before
from tests.factories import make_breadcrumb, make_context, make_profile, make_remembered


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
    assert scopes_before(trigger, profiles) == (
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


def test_breadcrumbs_of_no_session_are_shared_with_every_session_but_not_with_themselves() -> None:
    profile = make_profile(retrieval={"schemas": ("user.message.v1", "knowledge.v1", "note.v1")})
    assert scope_of(make_breadcrumb(), profile).shared == ("knowledge.v1", "note.v1")
    assert scope_of(make_breadcrumb(session="_"), profile) == Scope(workspace="acme", sessions=("_",))
    silent = make_profile(retrieval={"schemas": ("user.message.v1",)})
    assert scope_of(make_breadcrumb(), silent).shared == ()
