"""The memory of a person: nobody else's words, the same as of a place whoever builds the page, from either store."""

import asyncio
import re
from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.sql.store import SqlStore
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.context import Context
from builder.domain.stored import StoredBreadcrumb
from builder.service import ContextBuilder
from tests.conversations import answered, bash, deleted, replied, sent
from tests.examples import examples
from tests.factories import FAR, make_profile
from tests.hashing_embedder import HashingEmbedder
from tests.property.sessions import remember
from tests.stores import durable_store
from tests.unit.service.test_service import make_builder

PROFILE = make_profile(budget=3_000, retrieval={"scope": "user", "min_probability": None})
PEOPLE = ("ada", "ada", "ada", "bob", "")
SESSIONS = ("s1", "s1", "s2")
WISHES = ("", "", "Always answer in German.", "Never use emojis.", "You can use emojis again.")
MARK = re.compile(r"\bq(\d+)x")
"""Every breadcrumb says its own mark: q, its place, x."""
KINDS = ("words", "words", "words", "reply", "reply", "call", "result", "result", "edit", "note", "tombstone")

Person = str | None


def text_of(sequence: int, more: str = "") -> str:
    return f"The kiln and the glaze, q{sequence}x. {more}".strip()


@st.composite
def conversations(draw: st.DrawFn) -> tuple[StoredBreadcrumb, ...]:
    """Sessions of several people, their agents and tools, side by side."""
    rows: list[StoredBreadcrumb] = []
    calls: dict[str, str] = {}
    for sequence in range(1, draw(st.integers(6, 16))):
        session, text = draw(st.sampled_from(SESSIONS)), text_of(sequence, draw(st.sampled_from(WISHES)))
        earlier = draw(st.sampled_from([row.breadcrumb for row in rows])) if rows else None
        names: dict[str, Any] = {"trigger_event_id": earlier.id} if earlier and draw(st.booleans()) else {}
        match draw(st.sampled_from(KINDS)):
            case "words":
                user = draw(st.sampled_from(PEOPLE))
                record: dict[str, Any] = {"user_id": user} if user else {}
                record |= {"memory": False} if draw(st.integers(0, 9)) == 0 else {}
                rows.append(sent(sequence, "user.message.v1", {"content": text, "speaker": user or "X"}, session, **record))
            case "reply":
                rows.append(sent(sequence, "agent.response.v1", {"message": text} | names, session))
            case "call":
                calls[f"r{sequence}"] = session
                rows.append(replied(sequence, text, bash(f"r{sequence}", text), session=session))
            case "result" if calls:
                call = draw(st.sampled_from(sorted(calls)))
                rows.append(answered(sequence, call, text, session=draw(st.sampled_from((calls[call], NO_SESSION)))))
            case "edit" if earlier and earlier.session != NO_SESSION and not earlier.removes and not earlier.calls:
                body, user = {"content": text}, draw(st.sampled_from((earlier.user_id, "bob")))
                record = {"id": earlier.id, "version": sequence} | ({"user_id": user} if user and earlier.role == "user" else {})
                rows.append(sent(sequence, earlier.schema, body, earlier.session, **record))
            case "note":
                user = draw(st.sampled_from(PEOPLE))
                record = {"user_id": user} if user else {}
                rows.append(sent(sequence, "note.v1", {"content": text}, NO_SESSION, **record))
            case "tombstone" if earlier and not earlier.removes:
                rows.append(deleted(sequence, earlier.id, earlier.session))
            case _:
                rows.append(sent(sequence, "user.message.v1", {"content": text, "speaker": "ada"}, session, user_id="ada"))
    return tuple(rows)


def triggers_of(rows: tuple[StoredBreadcrumb, ...]) -> list[StoredBreadcrumb]:
    """A person's words, agents' words that answer something, and tools' results: the last of them, and one in front of these."""
    crumbs = [(row, row.breadcrumb) for row in rows if row.breadcrumb.version == 1 and not row.breadcrumb.removes]
    triggers = [row for row, crumb in crumbs if crumb.role in {"user", "tool"} or (crumb.role == "assistant" and crumb.answers)]
    return [*triggers[:-3][::3][:1], *triggers[-3:]]


def home_of(crumb: Breadcrumb, rows: Iterable[Breadcrumb]) -> str:
    """The session of a breadcrumb, or of the call that it answers."""
    callers = (other.session for other in rows if other.call_signatures and set(crumb.calls) & set(other.calls))
    return next(callers, crumb.session) if crumb.session == NO_SESSION else crumb.session


def owner_of(crumb: Breadcrumb, rows: tuple[Breadcrumb, ...]) -> Person:
    """Whose memory a breadcrumb is, by brute force; None = nobody's. rows: all up to the trigger's place, inclusive."""
    if crumb.user_id or crumb.role == "user":
        return crumb.user_id or None
    session, before = home_of(crumb, rows), [other for other in rows if other.place < crumb.place]
    first = next((other for other in before if other.id == crumb.id and other.session == crumb.session), None)
    if first is not None:
        return owner_of(first, rows)
    if crumb.role == "tool":
        call = next((other for other in before if other.call_signatures and set(crumb.calls) & set(other.calls)), None)
        return owner_of(call, rows) if call else None
    if crumb.answers:
        answers = [other for other in before if other.id == crumb.answers]
        return owner_of(max(answers, key=lambda other: other.version), rows) if answers else None
    if session == NO_SESSION:
        return None
    people = [other for other in rows if other.session == session and other.role == "user"]
    speakers = [other for other in people if other.place < crumb.place][-1:] or people[:1]
    return (speakers[0].user_id or None) if speakers else None


def strangers(trigger: Breadcrumb, person: str, context: Context, rows: tuple[Breadcrumb, ...]) -> list[str]:
    """Ids of breadcrumbs on the page, or in its account, that are neither of the trigger's session nor of the person."""
    sequences = {int(found) for found in MARK.findall(context.markdown)}
    account = map(repr, (*context.omissions, *context.partial))
    sequences |= {int(name) for each in account for name in re.findall(r"\bm(\d+)\b", each)}
    opening = {crumb.session: crumb for crumb in reversed(rows)}
    strange = []
    for crumb in rows:
        if crumb.place.sequence in sequences and home_of(crumb, rows) != trigger.session:
            owner, is_private = owner_of(crumb, rows), crumb.private or opening[home_of(crumb, rows)].private
            is_note = crumb.session == NO_SESSION and crumb.schema == "note.v1" and owner is None
            if not is_note and (owner != person or is_private):
                strange.append(crumb.id)
    return strange


def person_of(trigger: Breadcrumb, rows: tuple[Breadcrumb, ...]) -> str:
    people = [crumb for crumb in rows if crumb.session == trigger.session and crumb.role == "user"]
    return people[-1].user_id if trigger.role in {"user", "tool"} and people else ""


async def build(builder: ContextBuilder, trigger: StoredBreadcrumb) -> tuple[Context, ...]:
    return (await builder.build(trigger.breadcrumb, (PROFILE,))).contexts


async def contexts_in_order(
    store: SqlStore, rows: tuple[StoredBreadcrumb, ...]
) -> tuple[list[tuple[Context, ...]], list[Breadcrumb]]:
    """The contexts of the triggers as they come, and what was refused.

    Later the same worker, and one that reads backwards, build them again.
    """
    worker, triggers = make_builder(HashingEmbedder(), store, (PROFILE,)), triggers_of(rows)
    live: list[tuple[Context, ...]] = []
    refused: list[Breadcrumb] = []
    for row in rows:
        if row in triggers:
            live.append(await build(worker, row))
        else:
            refused += await remember(worker, row.breadcrumb)
    assert [await build(worker, trigger) for trigger in triggers] == live, "redelivered"
    another = make_builder(HashingEmbedder(), store, (PROFILE,))
    assert [await build(another, trigger) for trigger in reversed(triggers)] == live[::-1], "by a worker that begins"
    return live, refused


@examples(30)
@given(conversations())
def test_a_page_shows_one_persons_memory_and_is_the_same_whoever_builds_it_when(rows: tuple[StoredBreadcrumb, ...]) -> None:
    found, refused = asyncio.run(contexts_in_order(durable_store(), rows))
    crumbs = tuple(row.breadcrumb for row in rows if row.breadcrumb not in refused)
    for trigger, contexts in zip(triggers_of(rows), found, strict=True):
        earlier = tuple(crumb for crumb in crumbs if crumb.place <= trigger.breadcrumb.place)
        person = person_of(trigger.breadcrumb, earlier)
        for context in contexts if person else ():
            assert strangers(trigger.breadcrumb, person, context, earlier) == []


@examples(12)
@given(conversations(), st.data())
def test_after_an_erasure_every_worker_builds_the_same_page(rows: tuple[StoredBreadcrumb, ...], data: st.DataObject) -> None:
    victims = data.draw(st.lists(st.sampled_from([row.breadcrumb for row in rows]), min_size=1, max_size=3))
    question = sent(90, "user.message.v1", {"content": "What about the kiln?", "speaker": "ada"}, "s9", user_id="ada")

    async def erase_and_build() -> None:
        store = durable_store()
        worker = make_builder(HashingEmbedder(), store, (PROFILE,))
        await remember(worker, *(row.breadcrumb for row in rows))
        await build(worker, question)
        for crumb in victims:
            await store.erase("acme", crumb.session, crumb.id, FAR)
        (context,) = await build(worker, question)
        assert await build(make_builder(HashingEmbedder(), store, (PROFILE,)), question) == (context,)
        marks = {f"q{row.breadcrumb.place.sequence}x" for row in rows if row.breadcrumb.id in {crumb.id for crumb in victims}}
        assert not [mark for mark in marks if mark in context.markdown]

    asyncio.run(erase_and_build())
