"""The contract of editions: one suite over every store."""

from builder.domain.edition import Edition
from builder.ports.store import MAX_EDITIONS
from builder.ports.store import CompleteStore as Store

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


async def test_the_oldest_editions_go(store: Store) -> None:
    for number in range(MAX_EDITIONS + 3):
        await store.add_edition(edition(number))
    assert await store.editions("t2") == ()
    assert await store.editions("t3") == (edition(3),)
    assert await store.editions(f"t{MAX_EDITIONS + 2}") == (edition(MAX_EDITIONS + 2),)
