"""Every line of a page with its source."""

from typing import Any

from builder.domain.recall import StoredBreadcrumb
from builder.domain.reports import PagePart
from tests.explanations import make_explanation
from tests.factories import make_profile, make_remembered
from tests.property.sessions import hear

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
    assert ("recent", "</recent>") in sections
    assert ("current", "<current>") in sections
