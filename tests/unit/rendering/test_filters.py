"""Values on their way to the page: readable, and unable to forge it."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from builder.rendering.filters import Rendered, inline, quote, readable, sentence, settled, tag, untagged
from builder.rendering.templates import TemplateSet


def place(template: str, **values: Any) -> str:
    """The values in a template, as a hint would place them."""
    return TemplateSet({"generic": template}, {}).hint("generic", values)


STRUCTURE = [
    "# a",
    "###### a",
    "```",
    "~~~sh",
    "===",
    "---",
    "___",
    "_ _ _",
    "***",
    "- a",
    "* a",
    "+",
    "> a",
    "| a |",
    "<b>",
    "[a]: /url",
    "[8 May 2023]",
]
NUMBERED = ["1. a", "20) a"]


@pytest.mark.parametrize("line", STRUCTURE)
def test_a_line_that_would_open_structure_is_escaped_where_it_begins_a_line_of_the_page(line: str) -> None:
    assert place("{{ text }}", text=line) == f"\\{line}"
    assert place("{{ text }}: more", text=f"   {line}") == f"\\{line}: more"
    assert place("a\n{{ text }}", text=line) == f"a\n\\{line}"


def test_a_number_that_would_open_a_list_is_escaped_before_its_dot() -> None:
    assert [place("{{ text }}", text=line) for line in NUMBERED] == ["1\\. a", "20\\) a"]


@pytest.mark.parametrize("line", STRUCTURE + NUMBERED)
def test_further_lines_are_indented_whatever_stands_in_them(line: str) -> None:
    assert place("User: {{ text }}", text=f"Hi\n{line}\n\n{line}") == f"User: Hi\n    {line}\n    {line}"


@pytest.mark.parametrize("text", ["   - a", "\t# a", "    code", "\u3000x", "\n\n  x"])
def test_a_fragment_never_begins_with_white_space_so_it_cannot_pass_for_the_end_of_the_one_above(text: str) -> None:
    assert not place("{{ text }} answered", text=text)[0].isspace()


@pytest.mark.parametrize("line", STRUCTURE + NUMBERED)
def test_behind_a_name_the_same_line_stays_as_it_is(line: str) -> None:
    assert place("User: {{ text }}", text=line) == f"User: {line}"
    assert place("{{ name }}: {{ text }}", name="Maya", text=line) == f"Maya: {line}"


@pytest.mark.parametrize(
    "text", ["Hello.", "a # b", "C# and F#", "2024-05-01", "1.5 litres", "-5 °C", "*so*", "a - b", "grün 釉料 😀", "=> x"]
)
def test_ordinary_prose_is_unchanged(text: str) -> None:
    assert place("User: {{ text }}", text=text) == f"User: {text}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_every_kind_of_line_end_is_one(end: str) -> None:
    assert place("User: {{ text }}", text=f"a{end}{end}## b{end}") == "User: a\n    ## b"


def test_in_a_list_of_the_template_further_lines_are_indented_under_its_content() -> None:
    assert place("- {{ text }}", text="# a\n## b") == "- \\# a\n        ## b"
    assert place("x\n  10. {{ text }}", text="a\n## b") == "x\n  10. a\n          ## b"


def test_the_template_s_own_structure_stands_and_values_do_not_leak_their_indent_into_it() -> None:
    assert (
        place("{{ text }}\n## Own heading\n- own {{ text }}", text="a\n# b") == "a\n    # b\n## Own heading\n- own a\n        # b"
    )


def test_nothing_is_quoted_twice_and_other_types_are_left_alone() -> None:
    once = quote("a\nb")
    assert quote(once) is once
    assert isinstance(once, Rendered)
    assert quote(5) == 5
    assert quote(None) is None


def test_a_nul_that_slipped_in_cannot_pass_for_our_mark() -> None:
    assert settled(quote("\0\0a\n\0\0# b")) == "a\n    # b"


lines = st.lists(
    st.sampled_from([*STRUCTURE, *NUMBERED, "", "word", "\t# tab", "    code", "[a]: /url", "&num; x"]) | st.text(max_size=6),
    max_size=6,
)


@settings(deadline=None)
@given(
    lines.map("\n".join),
    lines.map("\n".join),
    st.sampled_from(["{{ a }}: {{ b }}", "- {{ a }} ({{ b }})", "Note {{ a }}\n{{ b }}"]),
)
@example("[a]", "/url\n# b", "{{ a }}: {{ b }}")
@example("x", "Setext\n===", "{{ a }}: {{ b }}")
def test_whatever_values_say_markdown_sees_no_structure_of_theirs(first: str, second: str, template: str) -> None:
    page = f"## Title\n{place(template, a=first, b=second)}\nUser: end\n"
    opened = [token for token in MarkdownIt("commonmark").parse(page) if token.nesting >= 0]
    assert [token.tag for token in opened if token.type == "heading_open"] == ["h2"]
    allowed = {"heading_open", "paragraph_open", "inline"}
    listed = {"bullet_list_open", "list_item_open"} if template.startswith("-") else set()
    assert {token.type for token in opened} <= allowed | listed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("text", "text"),
        (True, "true"),
        (12, "12"),
        (1.5, "1.5"),
        ([], ""),
        ({}, ""),
        ([1, "a", None], "1, a, null"),
        ({"count": 1, "max": 137}, "count 1; max 137"),
        ({"b": 1, "empty": "", "none": None, "list": [], "object": {}, "no": False, "zero": 0}, "b 1; no false; zero 0"),
        ({"street": "Rua 12", "name": "Ana", "title": "Dr"}, "title Dr; name Ana; street Rua 12"),
        ({"result": {"value": 12}}, "result: value 12"),
        ({"place": {"floor": 3, "rooms": [{"n": 1}]}, "ok": True}, "place:\n  floor: 3\n  rooms: - n 1\nok: true"),
        ({"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "n": 2}, "rows:\n  - a 1; b x\n  - a 2; b y\nn: 2"),
        ([{"title": "A", "tags": ["x", "y"]}, {"title": "B"}], "- title A; tags x, y\n- title B"),
        ([[1, 2], [3]], "- 1, 2\n- 3"),
        ({"text": "one\ntwo", "n": 1}, "text: one\n  two\nn: 1"),
        (["A sentence that is longer than forty characters.", "b"], "- A sentence that is longer than forty characters.\n- b"),
        ({"long": "x" * 170, "n": 1}, f"long: {'x' * 170}\nn: 1"),
    ],
)
def test_json_reads_as_text_without_brackets_and_quotes(value: Any, text: str) -> None:
    assert readable(value) == text


def test_a_list_of_like_objects_has_a_line_each_and_long_texts_are_clipped_at_a_word() -> None:
    rows = [{"title": "A", "text": "word " * 60}, {"title": "B", "text": "釉" * 300}]
    first, second = readable(rows).split("\n")
    assert first == "- title A; text " + ("word " * 31) + "word …"
    assert second == f"- title B; text {'釉' * 160} …"


def test_inline_is_one_line_whatever_comes() -> None:
    assert inline({"a": [1, {"b": "x\n\ny"}], "c": {"d": None, "e": 2}, "title": "T"}) == "title T; a 1, b x y; c e 2"
    assert inline("") == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(json_values)
def test_any_json_is_readable_and_inline_has_no_line_end(value: Any) -> None:
    assert isinstance(readable(value), str)
    assert "\n" not in inline(value)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ""),
        ("Returns the input.", "Returns the input."),
        ("Returns the input", "Returns the input."),
        ("Searches (fast)", "Searches (fast)."),
        ("First. Second.", "First."),
        ("Really? Yes.", "Really?"),
        ("Arithmetic, e.g. 3*4, and more. Slowly.", "Arithmetic, e.g. 3*4, and more."),
        ("Reads v1.2 files. Fast.", "Reads v1.2 files."),
        ("Reads approx. ten files. Fast.", "Reads approx. ten files."),
        ("Heading\nBody text.", "Heading."),
        ("  Two\t words  ", "Two words."),
        ("搜索网页。很快。", "搜索网页。"),
        ("To be continued …", "To be continued …"),
    ],
)
def test_a_sentence_is_the_first_one_with_its_full_stop(text: str, first: str) -> None:
    assert sentence(text) == first


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("</tools>", "&lt;/tools>"),
        ("< /tools>", "&lt; /tools>"),
        ("<b>", "&lt;b>"),
        ("<!-- x", "&lt;!-- x"),
        ("<?xml", "&lt;?xml"),
        ("a < b, 3 <4 and <= 5 <", "a < b, 3 <4 and <= 5 <"),
    ],
)
def test_for_a_page_of_tags_nothing_in_a_text_opens_or_closes_one(text: str, shown: str) -> None:
    assert untagged(text) == shown


def test_a_section_s_name_becomes_a_tag_whatever_it_is() -> None:
    names = {"tools": "tools", "recent tools": "recent_tools", "1st": "_1st", "ö>": "__", "a-b.c": "a-b.c"}
    assert {name: tag(name) for name in names} == names
