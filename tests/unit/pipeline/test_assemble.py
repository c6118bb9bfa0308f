"""The page as a whole: what stands where, nothing twice, nothing torn apart."""

from datetime import timedelta

from builder.domain.context import Context
from builder.domain.facts import Remembered
from tests.factories import MORNING, bare, ids_on_page, make_catalog, make_context, make_profile, make_remembered

QUESTION = make_remembered("What did the weather service say about Delft?", 900)
CHATTER = [make_remembered(f"Remark number {n}.", n) for n in range(100, 130)]


def exchange(first: int, said: str, answer: str) -> list[Remembered]:
    """A message that calls a tool, the request, the result."""
    call = (f"r{first}",)
    return [
        make_remembered(said, first, schema="agent.response.v1", calls=call),
        make_remembered("weather", first + 1, schema="tool.request.v1", calls=call),
        make_remembered(answer, first + 2, schema="tool.response.v1", calls=call),
    ]


def sections(context: Context) -> dict[str, list[str]]:
    return {section.name: list(section.ids) for section in context.sections}


def reasons(context: Context) -> dict[str, str]:
    return {omission.id: omission.reason for omission in context.omissions}


def test_sections_stand_in_the_order_of_the_profile_and_the_current_message_is_last() -> None:
    context = make_context(
        QUESTION,
        [make_remembered("Delft is sunny.", 1), *CHATTER, *exchange(200, "I look.", "Sunny")],
        standing=(make_catalog(2, 500),),
    )
    assert list(sections(context)) == ["tools", "recent", "relevant", "tool_results", "current"]
    assert sections(context)["current"] == ["m900"]
    assert context.markdown.endswith("\n## Current User Message\n- User: What did the weather service say about Delft?\n")
    assert context.tokens == sum(section.tokens for section in context.sections)


def test_a_context_says_what_it_lacked() -> None:
    rows, unseen = [make_remembered("The kiln is in Delft.", 1)], [bare(make_remembered("The kiln is in Delft.", 1))]
    assert make_context(QUESTION, rows).flags == ()
    assert make_context(QUESTION, unseen).flags == ("vectors_missing",)
    assert make_context(QUESTION, [], asked=b"").flags == ("degraded",)
    assert make_context(QUESTION, unseen, asked=b"").flags == ("degraded", "vectors_missing")
    assert make_context(make_remembered(" ", 900), rows).flags == ()


def test_an_unknown_session_gives_a_page_with_the_question_alone() -> None:
    assert (
        make_context(QUESTION, []).markdown == "## Current User Message\n- User: What did the weather service say about Delft?\n"
    )


def test_what_somebody_repeats_is_shown_once_at_its_newest_place() -> None:
    rows = [make_remembered(text, n) for n, text in enumerate(["Hello?", "I wait.", "hello!"], 1)]
    context = make_context(QUESTION, rows)
    assert sections(context)["recent"] == ["m2", "m3"]
    assert "User: hello! (said 2 times)" in context.markdown
    assert reasons(context) == {"m1": "repeat"}


def test_the_same_word_of_two_people_is_shown_twice() -> None:
    rows = [make_remembered("Hello.", 1), make_remembered("Hello.", 2, schema="agent.response.v1")]
    assert sections(make_context(QUESTION, rows))["recent"] == ["m1", "m2"]


def test_a_call_stays_with_its_result_even_if_the_same_was_said_before() -> None:
    context = make_context(
        QUESTION,
        [
            *exchange(1, "Let me look.", "Rain"),
            *exchange(4, "Let me look.", "Sun"),
            *exchange(7, "", "Fog"),
            *exchange(10, "", "Hail"),
        ],
    )
    assert sections(context)["recent"] == ["m1", "m4", "m7", "m10"]
    assert "said" not in context.markdown


def test_only_the_newest_tool_turns_show_what_the_tools_answered() -> None:
    rows = [row for turn in range(5) for row in exchange(10 * turn + 1, f"Look {turn}.", f"Answer {turn}")]
    context = make_context(QUESTION, rows, make_profile(retrieval={"schemas": ()}))
    assert sections(context)["recent"] == ["m1", "m11", "m21", "m31", "m41"]
    assert sections(context)["tool_results"] == ["m22", "m23", "m32", "m33", "m42", "m43"]
    assert reasons(context) == dict.fromkeys(("m2", "m3", "m12", "m13"), "older than the last 3 tool turns")


def test_an_old_answer_that_is_asked_about_comes_back_and_nothing_is_shown_twice() -> None:
    rows = [row for turn in range(5) for row in exchange(10 * turn + 1, f"Look {turn}.", f"The answer is town number {turn}")]
    rows[2] = make_remembered("The weather service says Delft is foggy", 3, schema="tool.response.v1", calls=("r1",))
    context = make_context(QUESTION, rows)
    assert sections(context)["relevant"][:2] == ["m2", "m3"]
    assert len(ids_on_page(context)) == len(set(ids_on_page(context)))
    assert not {"m1", "m2", "m3"} & reasons(context).keys()


def test_a_breadcrumb_shown_in_part_is_no_omission() -> None:
    filling = "The harbour was calm and we walked along the quay. " * 60
    long = make_remembered(f"{filling}The weather service said Delft is foggy. {filling}", 1)
    context = make_context(QUESTION, [long, *CHATTER], make_profile(budget=700, retrieval={"relevance_threshold": None}))
    assert "m1" in sections(context)["relevant"]
    assert "[…]" in context.markdown
    assert "m1" not in reasons(context)


def test_earlier_messages_stand_under_the_day_on_which_they_were_said() -> None:
    days = [
        make_remembered(f"The weather in Delft on day {n} is fine.", n, created_at=MORNING + timedelta(days=n)) for n in (1, 2)
    ]
    later = [
        make_remembered(f"Remark number {n}.", n, created_at=MORNING + timedelta(days=9, minutes=n)) for n in range(100, 130)
    ]
    context = make_context(QUESTION, [*days, *later])
    assert "[9 May 2024]\n- User: The weather in Delft on day 1 is fine.\n\n[10 May 2024]\n" in context.markdown


def test_the_prefix_ends_where_the_first_section_of_this_turn_begins() -> None:
    context = make_context(QUESTION, CHATTER[:3], standing=(make_catalog(3, 500),))
    end = next(cut.characters for cut in context.breakpoints if cut.name == "static")
    prefix, rest = context.markdown[:end], context.markdown[end:]
    assert prefix.startswith("## Available Tools\n")
    assert rest.lstrip("\n").startswith("## Recent Conversation\n")
    assert make_context(QUESTION, CHATTER[:3]).breakpoints[0].name == "recent"


def test_what_stands_is_not_found_a_second_time() -> None:
    note = make_remembered("Delft weather service note: it is foggy.", 1, schema="note.v1")
    edited = make_remembered("Delft weather service note: it is sunny.", 950, schema="note.v1", id="m1", version=2)
    profile = make_profile(pinned=("note.v1",))
    before = make_context(QUESTION, [note, *CHATTER], profile, (note,))
    after = make_context(QUESTION, [note, *CHATTER, edited], profile, (note,))
    assert ids_on_page(before).count("m1") == 1
    assert after == before


def test_speakers_of_a_profile_without_a_place_for_tools_lose_nothing_else() -> None:
    context = make_context(QUESTION, exchange(1, "I look.", "Fog"), make_profile("recall"))
    assert sections(context) == {"recent": ["m1"], "current": ["m900"]}
