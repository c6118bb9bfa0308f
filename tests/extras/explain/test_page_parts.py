"""Every line of a page with its source, and why it stands there."""

from typing import Any

from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector
from builder.domain.stored import StoredBreadcrumb
from builder.extras.explain.context_receipt import PagePart
from tests.explanations import make_explanation
from tests.factories import make_catalog, make_profile, make_remembered
from tests.property.sessions import hear
from tests.two_sections import make_two_sections

TRIGGER = make_remembered("Which kiln is hot?", 90)


def parts(*rows: StoredBreadcrumb, **profile: Any) -> tuple[str, tuple[PagePart, ...]]:
    context, explanation = make_explanation(TRIGGER, rows, make_profile(**profile))
    return context.markdown, explanation.receipt().parts


def test_a_part_names_the_very_lines_of_its_breadcrumb() -> None:
    markdown, found = parts(make_remembered("One line.", 1), make_remembered("Two lines:\n- a list\n- of two", 2))
    lines = markdown.split("\n")
    texts = {part.source.id: lines[part.first - 1 : part.last] for part in found if part.source}
    assert texts["m1"] == ["- User: One line."]
    assert texts["m2"] == ["- User: Two lines:", "  - a list", "  - of two"]


def test_a_call_and_each_of_its_results_have_lines_of_their_own() -> None:
    call = {"content": "Let me look.", "tool_requests": [{"tool": "search", "input": {"q": "kiln"}, "requestId": "r1"}]}
    answer = {"tool": "search", "output": "three kilns", "request_id": "r1", "status": "success"}
    markdown, found = parts(hear(1, "agent.response.v1", call), hear(2, "tool.response.v1", answer))
    lines = markdown.split("\n")
    texts = [(part.source.id, lines[part.first - 1 : part.last]) for part in found if part.source]
    assert texts[:3] == [
        ("m1", ["- Assistant: Let me look."]),
        ("m1", ["- Call search: q: kiln"]),
        ("m2", ["  Result: three kilns"]),
    ]


def test_words_of_the_profile_and_headings_have_no_source() -> None:
    _, found = parts(make_remembered("One line.", 1), system_prompt="You help potters.\nBriefly.")
    own = [(part.first, part.last, part.reason) for part in found if part.source is None]
    assert own[0] == (1, 1, "heading, date or note of the service")
    assert own[1] == (2, 3, "the system prompt")


def test_the_breadcrumb_of_each_part_has_its_version_schema_session_and_speaker() -> None:
    _, found = parts(make_remembered("One line.", 1, version=3))
    source = next(part.source for part in found if part.source)
    assert (source.id, source.version, source.schema, source.session, source.speaker) == (
        "m1",
        3,
        "user.message.v1",
        "s42",
        "User",
    )


def test_a_line_that_closes_a_section_belongs_to_it() -> None:
    markdown, found = parts(make_remembered("One line.", 1), page="xml")
    lines = markdown.split("\n")
    sections = [(part.section, lines[part.first - 1]) for part in found]
    assert ("conversation", "</conversation>") in sections
    assert ("current", "<current>") in sections


QUESTION = make_remembered("Where is the blue kiln?", 900)


def reasons(
    *rows: StoredBreadcrumb,
    trigger: StoredBreadcrumb = QUESTION,
    standing: tuple[StoredBreadcrumb, ...] = (),
    over: str | Profile = "default",
    **profile: Any,
) -> dict[str, str]:
    """Id → why it is on the page."""
    _, explanation = make_explanation(trigger, rows, make_profile(over, **profile), standing)
    return {part.source.id: part.reason for part in explanation.receipt().parts if part.source}


def long_session(*special: StoredBreadcrumb) -> list[StoredBreadcrumb]:
    """Far more than fits, behind what is looked for."""
    filler = [make_remembered(f"Number {n}: the weather was fine and nobody came by today.", n) for n in range(10, 200)]
    return [*special, *filler]


def test_the_conversation_that_fits_and_the_message_say_so() -> None:
    assert reasons(make_remembered("Hello there.", 1)) == {
        "m1": "the conversation, which fits",
        "m900": "the message to answer",
    }


def test_of_a_long_conversation_the_newest_part_is_shown_and_a_question_is_found_with_its_reply() -> None:
    asked = hear(1, "user.message.v1", {"content": "Where does the blue kiln stand?", "speaker": "Ana"})
    answered = hear(2, "agent.response.v1", {"message": "In the shed.", "trigger_event_id": "m1"})
    rows = long_session(asked, answered)
    for over in (make_profile(), make_two_sections()):
        why = reasons(*rows, budget=900, over=over)
        assert why["m199"] == "the newest part of the conversation"
        assert why["m1"] == "found"
        assert why["m2"] == "what was said in reply to m1, which was found"


def test_what_was_said_several_times_says_how_often() -> None:
    again = [make_remembered("The blue kiln stands in the shed.", n) for n in (1, 2, 3)]
    for over in (make_profile(), make_two_sections()):
        why = reasons(*long_session(*again), budget=900, over=over)
        assert why["m3"] == "found; the same was said 3 times, this is the last"


def test_what_the_profile_pins_names_what_it_asks_for() -> None:
    why = reasons(standing=(make_catalog(2, 5, id="tools"),), pinned=["tool.catalog.v1"])
    assert why["tools"] == "pinned: the latest tool.catalog.v1"


def test_an_instruction_that_the_conversation_does_not_show_still_holds() -> None:
    wish = make_remembered("From now on answer in German.", 1)
    assert reasons(*long_session(wish), budget=900)["m1"] == "an instruction that still holds"


def test_a_conversation_that_the_profile_limits_does_not_claim_to_fit() -> None:
    rows = [make_remembered(f"Number {n}: nobody came by today.", n) for n in range(1, 20)]
    why = reasons(*rows, window={"trim_to": 4, "max_units": 8})
    assert why["m19"] == "the newest part of the conversation"
    why = reasons(*rows, window={"trim_to": 4, "max_units": 8}, on_overflow="reject")
    assert why["m19"] == "what the profile's `window` leaves of the conversation"


def test_what_the_profile_pins_by_tags_reads_as_words() -> None:
    note = make_remembered("Be brief.", 2, schema="note.v1", role="other", tags=("rules",))
    pinned = Pinned(selector=Selector(all_tags=("rules",)), keep="all", section="")
    assert reasons(standing=(note,), pinned=(pinned,))["m2"] == "pinned: all with all tags of rules"


def test_a_call_names_the_result_that_was_found_and_has_no_evidence_of_its_own() -> None:
    calls = [{"tool": "search", "input": {"q": word}, "requestId": word} for word in ("kiln", "clay")]
    call = hear(1, "agent.response.v1", {"content": "", "tool_requests": calls})
    output = {"tool": "search", "output": "The blue kiln stands in the shed.", "request_id": "kiln", "status": "success"}
    rows = long_session(call, hear(2, "tool.response.v1", output))
    profile = make_two_sections(budget=900, retrieval={"schemas": ["tool.response.v1"]})
    shown = make_explanation(QUESTION, rows, profile)[1].receipt().parts
    by_reason = {part.reason: part for part in shown if part.source and part.source.id in {"m1", "m2"}}
    assert list(by_reason) == ["the call that led to m2, which was found", "found", "a note on the other calls of that step"]
    assert [bool(part.evidence) for part in by_reason.values()] == [False, True, False]


def test_what_is_found_of_one_conversation_has_its_evidence() -> None:
    told = make_remembered("The blue kiln stands in the shed.", 1)
    parts_of_page = make_explanation(QUESTION, long_session(told), make_profile(budget=900))[1].receipt().parts
    by_id = {part.source.id: part for part in parts_of_page if part.source}
    assert by_id["m1"].reason == "found"
    assert by_id["m1"].evidence
    assert not by_id["m199"].evidence


def test_of_a_message_only_the_sentence_that_instructs_is_shown_as_an_instruction() -> None:
    wish = make_remembered("The weather was fine today. From now on answer in German. Nobody came by.", 1)
    _, explanation = make_explanation(QUESTION, long_session(wish), make_profile(budget=900))
    (part,) = [part for part in explanation.receipt().parts if part.reason == "an instruction that still holds"]
    assert part.reduced == "only passages of it"
