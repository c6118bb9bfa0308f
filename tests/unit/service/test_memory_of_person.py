"""The memory of a person on a page: what was said by and to the same user in any session, never anybody else's words."""

from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from tests.conversations import answered, bash
from tests.conversations import replied as calling
from tests.factories import ids_on_page, make_breadcrumb, make_profile
from tests.hashing_embedder import HashingEmbedder
from tests.stores import durable_store
from tests.unit.service.test_service import make_builder

PROFILE = make_profile(retrieval={"scope": "user", "min_probability": None})


def said(sequence: int, session: str, user: str, text: str, **changes: Any) -> Breadcrumb:
    return make_breadcrumb(text, sequence, session=session, user_id=user, speaker=user.title() or "User", **changes)


def replied(sequence: int, session: str, text: str, answers: str = "", **changes: Any) -> Breadcrumb:
    return make_breadcrumb(text, sequence, session=session, schema="agent.response.v1", answers=answers, **changes)


MONDAY = (
    said(1, "mon", "ada", "I'm Ada. I am allergic to peanuts. Always answer me in German."),
    replied(2, "mon", "Alles klar, keine Erdnüsse, peanuts.", "m1"),
    said(3, "mon", "ada", "My locker in the gym is number 114."),
)
BOB = (
    said(4, "bobs", "bob", "Hi, I'm Bob. My peanuts PIN is 4711."),
    replied(5, "bobs", "I noted the peanuts PIN 4711.", "m4"),
)


async def page(*crumbs: Breadcrumb, trigger: Breadcrumb, profile: Any = PROFILE) -> Context:
    store = durable_store()
    builder = make_builder(HashingEmbedder(), store, (profile,))
    for crumb in crumbs:
        await builder.remember(crumb)
    built = await builder.build(trigger, (profile,))
    assert built.rejected == ()
    (context,) = built.contexts
    again = make_builder(HashingEmbedder(), store, (profile,))
    assert (await again.build(trigger, (profile,))).contexts == built.contexts  # from the store alone
    return context


async def test_an_instruction_of_another_session_stands_until_the_person_takes_it_back_in_any_session() -> None:
    question = said(9, "wed", "ada", "What is the weather in Delft?")
    context = await page(*MONDAY, trigger=question)
    (section,) = (section for section in context.sections if section.name == "instructions")
    assert section.ids == ("m1",)
    ended = await page(*MONDAY, said(4, "tue", "ada", "You no longer have to answer me in German."), trigger=question)
    assert all(section.name != "instructions" or "m1" not in section.ids for section in ended.sections)


async def test_without_a_user_id_only_the_session_is_looked_at_and_a_flag_says_so() -> None:
    context = await page(*MONDAY, *BOB, trigger=make_breadcrumb("What snack may I eat, any peanuts?", 9, session="tue"))
    assert ids_on_page(context) == ["m9"]
    assert context.flags == ("no_user",)


async def test_the_page_for_a_tools_answer_shows_the_memory_of_the_person_who_asked() -> None:
    call = calling(7, "I look.", bash("r1", "ls"), session="tue").breadcrumb
    rows = (*MONDAY, *BOB, said(6, "tue", "ada", "Which number has my locker in the gym?"), call)
    context = await page(*rows, trigger=answered(8, "r1", "none", session="tue").breadcrumb)
    assert "114" in context.markdown
    assert "4711" not in context.markdown


async def test_an_edit_of_words_to_another_person_does_not_make_them_the_persons() -> None:
    rows = (
        said(1, "group", "bob", "Keep my alarm code."),
        replied(2, "group", "The alarm code is 9911."),
        said(3, "group", "ada", "The alarm is in the hall."),
        replied(4, "group", "The alarm code is 9912.", id="m2", version=2),
    )
    context = await page(*rows, trigger=said(99, "tue", "ada", "What about the alarm and its code?"))
    assert "9911" not in context.markdown
    assert "9912" not in context.markdown


async def test_the_person_of_a_tools_answer_stays_the_same_when_the_question_is_edited_later() -> None:
    private = said(1, "bobs", "bob", "The code of my garage is 5566, ls.")
    rows = (
        said(2, "group", "bob", "Hi."),
        said(3, "group", "ada", "Look into the garage, ls."),
        calling(4, "I look.", bash("r1", "ls"), session="group").breadcrumb,
    )
    edit = said(6, "group", "ada", "Look into the cellar.", id="m3", version=2)
    context = await page(private, *rows, edit, trigger=answered(5, "r1", "garage ls", session="group").breadcrumb)
    assert "5566" not in context.markdown


GREETED = (
    said(1, "mon", "ada", "My kiln stands in Delft."),
    replied(2, "tue", "Your parcel with the kiln has arrived."),
    calling(3, "I look.", bash("r1", "ls"), session="mon").breadcrumb,
    answered(4, "r1", "the kiln is hot", session="mon").breadcrumb,
    said(5, "tue", "ada", "What about the kiln in Delft?"),
    said(6, "mon", "ada", "What about the kiln?"),
)
AMONG_AGENTS = (
    said(1, "mon", "ada", "My kiln stands in Delft."),
    replied(2, "sub", "The kiln needs a new coil."),
    replied(3, "sub", "Order a coil for the kiln.", "m1"),
    said(4, "mon", "ada", "What about the kiln and its coil?"),
    replied(5, "sub", "The coil of the kiln has come.", "m1"),
    said(6, "mon", "ada", "Has the coil of the kiln come?"),
)


@pytest.mark.parametrize("rows", [GREETED, AMONG_AGENTS], ids=["greeted before the first words", "a session of agents alone"])
async def test_pages_are_the_same_whether_a_worker_read_the_session_as_it_grew_or_only_now(rows: tuple[Breadcrumb, ...]) -> None:
    store = durable_store()
    worker = make_builder(HashingEmbedder(), store, (PROFILE,))
    triggers = [row for row in rows if row.answers or row.role in {"user", "tool"}]
    live = []
    for row in rows:
        if row in triggers:
            live.append((await worker.build(row, (PROFILE,))).contexts)
        else:
            await worker.remember(row)
    fresh = [make_builder(HashingEmbedder(), store, (PROFILE,)) for _ in triggers]
    assert [(await worker.build(row, (PROFILE,))).contexts for row in triggers] == live
    assert [(await each.build(row, (PROFILE,))).contexts for each, row in zip(fresh, triggers, strict=True)] == live
    store.close()
