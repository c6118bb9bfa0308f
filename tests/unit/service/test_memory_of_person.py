"""The memory of a person on a page: what was said by and to the same user in any session, never anybody else's words."""

from dataclasses import replace
from typing import Any

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.context import Context
from tests.conversations import answered, bash
from tests.conversations import replied as calling
from tests.factories import HashingEmbedder, ids_on_page, make_breadcrumb, make_profile, make_tombstone
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


async def test_a_new_session_knows_what_was_said_by_and_to_the_person_and_nothing_of_anybody_else() -> None:
    context = await page(*MONDAY, *BOB, trigger=said(9, "tue", "ada", "What snack may I eat, any peanuts?"))
    assert {"m1", "m2", "m3"} <= set(ids_on_page(context))
    assert "4711" not in context.markdown
    assert context.flags == ()


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


async def test_of_a_session_with_several_people_others_see_only_their_own_part() -> None:
    group = (
        said(1, "group", "bob", "The alarm code is 9911."),
        replied(2, "group", "Bob, I keep the alarm code 9911.", "m1"),
        said(3, "group", "ada", "The alarm is in the hall."),
        replied(4, "group", "Ada, the alarm is in the hall.", "m3"),
        said(5, "group", "", "The alarm code of the cellar is 7722."),
        replied(6, "group", "The code of the cellar is 7722."),
        said(7, "group", "bob", "Now the alarm code is 9912."),
        replied(8, "group", "The alarm code 9912 it is.", "m7"),
    )
    context = await page(*group, trigger=said(99, "tue", "ada", "What about the alarm and its code?"))
    assert [name for name in ids_on_page(context) if name != "m99"] == ["m3", "m4"]
    own = await page(*group, trigger=said(99, "group", "ada", "What about the alarm and its code?"))
    assert {f"m{number}" for number in range(1, 9)} <= set(ids_on_page(own))


async def test_what_is_private_is_shown_in_its_own_session_only() -> None:
    secret = (
        said(4, "tue", "ada", "My peanuts diary is private.", private=True),
        said(5, "tue", "ada", "It lies under the bed."),
        said(6, "wed", "ada", "The peanuts of the neighbours.", private=True),
    )
    question = said(9, "thu", "ada", "What about the peanuts and the bed?")
    assert {"m4", "m5", "m6"}.isdisjoint(ids_on_page(await page(*MONDAY, *secret, trigger=question)))
    own = await page(*MONDAY, *secret, trigger=replace(question, session="tue"))
    assert {"m1", "m4", "m5"} <= set(ids_on_page(own))


async def test_what_agents_say_before_the_person_speaks_is_said_to_the_person() -> None:
    rows = (replied(1, "mon", "Your parcel with the kiln has arrived in Delft."), said(2, "mon", "ada", "Thanks, I fetch it."))
    context = await page(*rows, trigger=said(9, "tue", "ada", "Where is my parcel with the kiln?"))
    assert "m1" in ids_on_page(context)


async def test_what_was_deleted_in_another_session_is_no_memory() -> None:
    tombstone = make_tombstone("m3", 6, session="mon").breadcrumb
    context = await page(*MONDAY, tombstone, trigger=said(9, "tue", "ada", "Which number has my locker in the gym?"))
    assert "114" not in context.markdown


async def test_the_page_for_a_tools_answer_shows_the_memory_of_the_person_who_asked() -> None:
    call = calling(7, "I look.", bash("r1", "ls"), session="tue").breadcrumb
    rows = (*MONDAY, *BOB, said(6, "tue", "ada", "Which number has my locker in the gym?"), call)
    context = await page(*rows, trigger=answered(8, "r1", "none", session="tue").breadcrumb)
    assert "114" in context.markdown
    assert "4711" not in context.markdown


async def test_a_result_that_comes_late_belongs_to_whom_its_call_does_though_another_person_spoke_in_between() -> None:
    for session in ("group", NO_SESSION):
        rows = (
            said(1, "group", "bob", "Look my alarm code up."),
            calling(2, "I look.", bash("r1", "cat alarm"), session="group").breadcrumb,
            said(3, "group", "ada", "The alarm is in the hall."),
            answered(4, "r1", "the alarm code is 9911", session=session).breadcrumb,
        )
        context = await page(*rows, trigger=said(99, "tue", "ada", "What about the alarm and its code?"))
        assert "9911" not in context.markdown


async def test_a_result_of_no_session_that_stands_before_the_persons_first_words_is_not_the_persons() -> None:
    rows = (
        said(1, "group", "bob", "Look my alarm code up."),
        calling(2, "I look.", bash("r1", "cat alarm"), session="group").breadcrumb,
        answered(3, "r1", "the alarm code is 9911", session=NO_SESSION).breadcrumb,
        said(4, "group", "ada", "The alarm is in the hall."),
    )
    context = await page(*rows, trigger=said(99, "tue", "ada", "What about the alarm and its code?"))
    assert "9911" not in context.markdown


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


async def test_pages_are_the_same_whether_a_greeting_was_read_before_or_after_the_first_words() -> None:
    store = durable_store()
    worker = make_builder(HashingEmbedder(), store, (PROFILE,))
    rows = (
        said(1, "mon", "ada", "My kiln stands in Delft."),
        replied(2, "tue", "Your parcel with the kiln has arrived."),
        calling(3, "I look.", bash("r1", "ls"), session="mon").breadcrumb,
        answered(4, "r1", "the kiln is hot", session="mon").breadcrumb,
        said(5, "tue", "ada", "What about the kiln in Delft?"),
        said(6, "mon", "ada", "What about the kiln?"),
    )
    live = []
    for row in rows:
        if row.role in {"user", "tool"}:
            live.append((await worker.build(row, (PROFILE,))).contexts)
        else:
            await worker.remember(row)
    triggers = [row for row in rows if row.role in {"user", "tool"}]
    fresh = [make_builder(HashingEmbedder(), store, (PROFILE,)) for _ in triggers]
    assert [(await worker.build(row, (PROFILE,))).contexts for row in triggers] == live
    assert [(await each.build(row, (PROFILE,))).contexts for each, row in zip(fresh, triggers, strict=True)] == live
    store.close()


async def test_a_session_in_which_only_agents_speak_is_read_once_and_shows_on_no_other_page() -> None:
    store = durable_store()
    worker = make_builder(HashingEmbedder(), store, (PROFILE,))
    rows = (
        said(1, "mon", "ada", "My kiln stands in Delft."),
        replied(2, "sub", "The kiln needs a new coil."),
        replied(3, "sub", "Order a coil for the kiln.", "m1"),
        said(4, "mon", "ada", "What about the kiln and its coil?"),
        replied(5, "sub", "The coil of the kiln has come.", "m1"),
        said(6, "mon", "ada", "Has the coil of the kiln come?"),
    )
    live = []
    for row in rows:
        if row.answers or row.role == "user":
            live.append((await worker.build(row, (PROFILE,))).contexts)
        else:
            await worker.remember(row)
    triggers = [row for row in rows if row.answers or row.role == "user"]
    fresh = [make_builder(HashingEmbedder(), store, (PROFILE,)) for _ in triggers]
    assert [(await each.build(row, (PROFILE,))).contexts for each, row in zip(fresh, triggers, strict=True)] == live
    store.close()


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
