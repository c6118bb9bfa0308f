"""The contract of `TokenVectors`: one suite over every store."""

from dataclasses import replace
from typing import Protocol

from builder.domain.facts import PassageKey, Remembered
from builder.domain.recall import RecallQuery, Scope
from builder.ports import Backlog, BreadcrumbStore, TokenVectors
from tests.factories import FAR, MODEL, bare, make_place, make_remembered, with_token_vectors

LONG = "I moved to Lisbon because of the new job. " * 40


class Store(BreadcrumbStore, Backlog, TokenVectors, Protocol):
    def close(self) -> None: ...


def keys(row: Remembered) -> tuple[PassageKey, ...]:
    crumb = row.breadcrumb
    return tuple(PassageKey(crumb.session, crumb.place, ordinal) for ordinal in range(len(row.passages)))


def brought(row: Remembered) -> tuple[bytes, ...]:
    return tuple(held.token_vectors for held in row.passages)


async def test_token_vectors_are_read_as_they_were_remembered_in_the_order_asked(store: Store) -> None:
    rows = [with_token_vectors(make_remembered(text, n)) for n, text in enumerate((LONG, "The kiln is hot.", LONG[42:]), 1)]
    for row in rows:
        await store.remember(row)
    asked = (*keys(rows[1]), *reversed(keys(rows[0])), *keys(rows[2]))
    expected = (*brought(rows[1]), *reversed(brought(rows[0])), *brought(rows[2]))
    assert all(expected)
    assert await store.token_vectors("acme", asked, MODEL) == expected
    assert await store.token_vectors("acme", (), MODEL) == ()


async def test_recall_and_facts_leave_token_vectors_out(store: Store) -> None:
    row = make_remembered(LONG)
    await store.remember(with_token_vectors(row))
    scope = Scope(workspace="acme", sessions=("s42",))
    query = RecallQuery(scope=scope, session="s42", after=make_place(0), until=FAR, limit=9, standing=(), model=MODEL)
    assert (await store.recall(query)).rows == (row,)
    assert await store.facts(row.breadcrumb) == row


async def test_what_was_remembered_without_token_vectors_has_none(store: Store) -> None:
    row = make_remembered(LONG)
    await store.remember(row)
    assert set(await store.token_vectors("acme", keys(row), MODEL)) == {b""}


async def test_token_vectors_of_another_workspace_model_or_passage_are_never_given(store: Store) -> None:
    row = with_token_vectors(make_remembered())
    await store.remember(row)
    (key,) = keys(row)
    elsewhere = (replace(key, session="s4"), replace(key, place=make_place(2)), replace(key, ordinal=1))
    assert await store.token_vectors("acme", elsewhere, MODEL) == (b"", b"", b"")
    assert await store.token_vectors("rival", (key,), MODEL) == (b"",)
    assert await store.token_vectors("acme", (key,), "other/int8/1") == (b"",)


async def test_the_first_one_to_remember_or_fill_in_wins(store: Store) -> None:
    row = with_token_vectors(make_remembered())
    other = replace(row, passages=tuple(replace(held, token_vectors=b"\x01" * 64) for held in row.passages))
    await store.remember(bare(row))
    assert await store.token_vectors("acme", keys(row), MODEL) == (b"",)
    assert [await store.fill(each) for each in (row, other)] == [True, False]
    assert await store.remember(other) is False
    assert await store.token_vectors("acme", keys(row), MODEL) == brought(row)
