"""Text in list items: nothing of it opens structure at the root of a page, and all of it reads back as it was written."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from builder.adapters.templates.folder import TemplateSet
from builder.assemble.items.list_items import Rendered, below, block, items, quote, unmarked
from builder.extras.chat_formats.words import spoken
from tests.examples import examples

READER = MarkdownIt("commonmark").enable("table")
STRUCTURE = (
    "# a", "###### a", "#", "```", "```py", "````", "~~~", "~~~sh", "===", "=", "---", "-", "--", "- -", "- - -", "___", "***",
    "* *", "- a", "* a", "+", "+ a", "> a", ">", "> ```", "- ```", "1. a", "1) a", "1986. A great year", "10.", "| a | b |",
    "|---|---|", "a | b", "--- | ---", "<div>", "</div>", "<!--", "-->", "<?php", "<![CDATA[", "<pre>", "<script>", "[a]: /url",
    "[a]:", "[8 May 2023]", "    code", "\tcode", "\t", " ", "  ", "     ", "", "", "User: no", "plain", "\\", "&#35; x", ":",
)  # fmt: skip
BREAKS = ("\n", "\n", "\n", "\n\n", "\n\n\n", "\r", "\r\n", "\n\t", "\n    ", "\n ", "\x85", "\x0c", "\v", "\u2028", "\x1c")

texts = st.lists(
    st.tuples(st.sampled_from(STRUCTURE) | st.text(max_size=6), st.sampled_from(BREAKS)), min_size=1, max_size=8
).map(lambda parts: "".join(map("".join, parts)))


def place(template: str, **values: str) -> str:
    """The values in a template, as a hint would place them."""
    return TemplateSet({"generic": template}, {}).hint("generic", values)


def root(page: str) -> list[tuple[str, str]]:
    """Kind and markup of everything at the root of the page."""
    return [(token.type, token.markup) for token in READER.parse(page) if token.level == 0 and token.nesting >= 0]


def written(text: str) -> str:
    """The text with our line ends, without the white space at its very end."""
    return re.sub("\r\n?|[\u2028\u2029]", "\n", text.replace("\0", "")).rstrip(" \t\n")


def page_of(*fragments: str) -> str:
    """A page of two sections, with a date line in front of the items, as the page template lays it out."""
    return "## Conversation\n[8 May 2023]\n" + "".join(f"{text}\n" for text in fragments) + "\n## Current\n- User: end\n"


OUTLINE = [
    ("heading_open", "##"),
    ("paragraph_open", ""),
    ("bullet_list_open", "-"),
    ("heading_open", "##"),
    ("bullet_list_open", "-"),
]


@examples(600)
@given(texts, texts, st.sampled_from(("block", "below")))
@example("\n# a", "```", "block")
@example("   - a", "\t# a", "block")
@example("\n\n\nx", "\n===", "below")
@example("a\n---", "a | b\n--- | ---\n1 | 2", "block")
def test_whatever_a_text_says_the_page_keeps_its_outline_and_the_text_reads_back(first: str, second: str, how: str) -> None:
    said = [place(f"- {{{{ speaker }}}}: {{{{ text | {how} }}}}", speaker="Ana", text=text) for text in (first, second)]
    assert root(page_of(*said)) == OUTLINE
    assert [spoken(item, "Ana") for item in said] == [written(first), written(second)]


TEMPLATES = (
    "{{ a }}", "{{ a }}: {{ b }}", "{{ a }}{{ b }}", "- {{ a }}", "- {{ a }} {{ b }}", "- {{ a }}\n- {{ b }}",
    "- {{ a }}\n  {{ b }}", "- x\n    - {{ a }}\n      {{ b }}", "    - {{ a }}\n{{ b }}", "1. {{ a }}\n2. {{ b }}",
    "```\n{{ a }}\n```\n{{ b }}", "# {{ a }}\n\n{{ b }}", "> {{ a }}", "- \n{{ a }}", "-\n- {{ a }}", "---\n{{ a }}",
)  # fmt: skip


@examples(600)
@given(texts, texts, st.sampled_from(TEMPLATES))
@example("[a]", "/url\n# b", "{{ a }}: {{ b }}")
@example("--", "", "- {{ a }}")
@example("\n# a", "", "{{ a }}")
@example("", "\n# a", "{{ a }}{{ b }}")
def test_whatever_a_template_does_the_page_keeps_its_outline(first: str, second: str, template: str) -> None:
    said = items(template.replace("{{ a }}", str(quote(first))).replace("{{ b }}", str(quote(second))))
    assert root(page_of(said) if said else page_of("- x")) == OUTLINE


@examples(300)
@given(texts)
@example("  x\n# b")
@example("---")
def test_a_text_without_a_label_reads_back_too(text: str) -> None:
    said = items(str(quote(text)))
    assert spoken(said, "") == written(text)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Hello.", "- Ana: Hello."),
        ("Hello.\nYou there?\n\nYes, you.\n", "- Ana: Hello.\n  You there?\n\n  Yes, you."),
        ("# Plan", "- Ana: # Plan"),
        ("# Plan\nFirst.", "- Ana:\n\n  # Plan\n  First."),
        ("Plan\n====", "- Ana:\n\n  Plan\n  ===="),
        ("a | b\n--|--\n1 | 2", "- Ana:\n\n  a | b\n  --|--\n  1 | 2"),
        ("1986. A great year", "- Ana: 1986. A great year"),
        ("1. milk\n2. eggs", "- Ana:\n\n  1. milk\n  2. eggs"),
        ("```py\nx = 1", "- Ana:\n\n  ```py\n  x = 1"),
        ("if x:\n    \n    y()", "- Ana: if x:\n      \n      y()"),
        ("    x()\n    y()", "- Ana:\n\n      x()\n      y()"),
        ("\n\nLate.", "- Ana:\n\n\n\n  Late."),
        ("one  \ntwo  ", "- Ana: one  \n  two"),
        ("one\r\ntwo\rthree", "- Ana: one\n  two\n  three"),
    ],
)
def test_a_text_stands_behind_its_label_or_below_it_where_its_lines_have_a_shape(text: str, item: str) -> None:
    assert place("- Ana: {{ text | block }}", text=text) == item


def test_a_result_of_several_lines_begins_below_its_label() -> None:
    assert place("- sh answered: {{ text | below }}", text="one") == "- sh answered: one"
    assert place("- sh answered: {{ text | below }}", text="one\ntwo") == "- sh answered:\n  one\n  two"
    assert place("- sh answered: {{ text | below }}", text="| a |\n|---|") == "- sh answered:\n\n  | a |\n  |---|"


def test_what_no_bullet_can_have_behind_it_stands_below_an_empty_label() -> None:
    assert items(str(quote("---"))) == "- :\n\n  ---"
    assert items(str(quote("  x\ny"))) == "- :\n\n    x\n  y"
    assert items("- x\n  - " + str(quote("\n# a"))) == "- x\n  - :\n\n\n    # a"


def test_every_line_of_a_template_is_an_item_or_continues_one_and_empty_ones_go() -> None:
    assert place("{{ text }}", text="a\nb") == "- a\n  b"
    assert place("- {{ text }}\n- {{ text }}", text="a\n# b") == "- a\n  # b\n- a\n  # b"
    assert place("- {{ text }}\n\n  own {{ text }}\nmore", text="a\nb") == "- a\n  b\n  own a\n  b\n  more"
    assert place("- {{ none }}\n- \n-   {{ none }} {{ text }}", none="", text="a") == "- a"


def test_nothing_is_quoted_twice_and_other_values_are_left_alone() -> None:
    once = quote("a\nb")
    assert quote(once) is once
    assert isinstance(once, Rendered)
    assert (quote(5), quote(None), quote("")) == (5, None, "")


def test_a_nul_that_slipped_in_cannot_pass_for_our_mark() -> None:
    assert items(str(quote("\0\0a\0\n\0# b"))) == "- a\n  # b"


def test_a_value_of_a_page_template_has_one_line() -> None:
    assert unmarked(f"## {quote('A' + chr(10) + '# B')}\n") == "## A # B\n"


@pytest.mark.parametrize("value", ["", " \n ", "\t"])
def test_of_white_space_alone_nothing_is_left(value: str) -> None:
    assert (block(value), below(value)) == ("", "")
