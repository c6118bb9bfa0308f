"""The contract of editions: one suite over every store."""

from builder.domain.edition import Edition
from builder.ports.store import MAX_EDITIONS
from builder.ports.store import CompleteStore as Store
from tests.factories import make_place, make_remembered

BUNDLED = {"hints/generic.md.j2": "{{ text }}", "profiles/default.yaml": "budget: 100"}


def edition(number: int, **profiles: str) -> Edition:
    own = {"hints/note.v1.md.j2": f"Note {number}: {{{{ text }}}} ü\n"}
    return Edition(templates=f"t{number}", profiles={"default": "p1", **profiles}, layers=(BUNDLED, own))


async def test_an_edition_is_found_by_the_revision_of_templates_that_its_contexts_name(store: Store) -> None:
    await store.add_edition(edition(1))
    await store.add_edition(edition(2, default="p2", brief="p3"))
    assert await store.editions("t1") == (edition(1),)
    assert await store.editions("t2") == (edition(2, default="p2", brief="p3"),)
    assert await store.editions("t3") == ()


async def test_of_several_with_the_same_templates_the_newest_is_first_also_when_it_comes_back(store: Store) -> None:
    one = edition(1)
    other = Edition(templates="t1", profiles={"default": "p1"}, layers=(BUNDLED, {"models.yaml": "other: 1\n"}))
    await store.add_edition(one)
    await store.add_edition(other)
    assert await store.editions("t1") == (other, one)
    await store.add_edition(one)
    assert await store.editions("t1") == (one, other)


async def test_the_newest_edition_of_any_templates_is_the_first_of_all(store: Store) -> None:
    assert await store.editions("") == ()
    await store.add_edition(edition(1))
    await store.add_edition(edition(2))
    await store.add_edition(edition(1))
    assert await store.editions("") == (edition(1), edition(2))


async def test_the_newest_breadcrumbs_of_a_schema_are_those_of_all_workspaces_and_sessions(store: Store) -> None:
    assert await store.newest("note.v1", 5) == ()
    for number, (workspace, session, schema) in enumerate(
        [("acme", "s1", "note.v1"), ("zeta", "s1", "note.v1"), ("acme", "s2", "user.message.v1"), ("beta", "_", "note.v1")], 1
    ):
        await store.remember(make_remembered(f"text {number}", number, workspace=workspace, session=session, schema=schema))
    assert [crumb.place.sequence for crumb in await store.newest("note.v1", 5)] == [4, 2, 1]
    assert [(crumb.workspace, crumb.text) for crumb in await store.newest("note.v1", 1)] == [("beta", "text 4")]
    await store.erase("zeta", "s1", "m2", make_place(9))
    assert [crumb.text for crumb in await store.newest("note.v1", 3)] == ["text 4", "", "text 1"]


async def test_the_oldest_editions_go(store: Store) -> None:
    for number in range(MAX_EDITIONS + 3):
        await store.add_edition(edition(number))
    assert await store.editions("t2") == ()
    assert await store.editions("t3") == (edition(3),)
    assert await store.editions(f"t{MAX_EDITIONS + 2}") == (edition(MAX_EDITIONS + 2),)
