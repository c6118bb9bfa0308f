"""Handlebars text and its tree: what begins, divides and ends blocks."""

import pytest

from builder.extras.rcrt.handlebars import MAX_DEPTH, Block, Node, NotConverted, Value, parse

UNCLOSED = " begins a tag that is empty or not closed; close it, or write {{ '{{' }} for the braces"


def outline(nodes: tuple[Node, ...]) -> list[object]:
    return [
        (node.kind, node.argument, outline(node.body), outline(node.inverse)) if isinstance(node, Block) else node
        for node in nodes
    ]


def test_blocks_hold_what_they_show_and_what_they_show_else() -> None:
    assert outline(parse("a{{# each  b.c }}{{this}}{{else}}{{#if d}}e{{/if}}{{/each}}")) == [
        "a",
        ("#each", "b.c", [Value("this", 1)], [("#if", "d", ["e"], [])]),
    ]
    assert outline(parse("{{#if a}}1{{else if b}}2{{^}}3{{/if}}")) == [("#if", "a", ["1"], [("#if", "b", ["2"], ["3"])])]


def test_values_and_blocks_know_their_lines() -> None:
    block, text, value = parse("{{!-- two\nlines --}}\n{{#if a}}\n{{/if}}\n\n{{b}}")
    assert isinstance(block, Block)
    assert (block.line, text, value) == (3, "\n", Value("b", 6))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a{{!-- with }} in it --}}b{{! short }}c", ["a", "b", "c"]),
        ("{{!-- a --}} between {{!-- b --}}\n", [" between ", "\n"]),
        ("x\r\n  {{!-- alone --}}  \r\ny", ["x\r\n", "y"]),
        ("{not} a }} tag", ["{not} a }} tag"]),
    ],
)
def test_comments_go_and_take_a_line_of_their_own_with_them(source: str, text: list[str]) -> None:
    assert list(parse(source)) == text


@pytest.mark.parametrize(
    ("source", "report"),
    [
        ("a\n{{#if x}}b", "line 2: {{#if x}} is not closed; write {{/if}} after it"),
        ("{{#if a}}x{{/each}}", "line 1: {{#if a}} is not closed; write {{/if}} after it"),
        ("{{#each a}}{{else if b}}x{{/if}}", "line 1: {{else if b}} is not closed; write {{/each}} after it"),
        ("{{/each}}", "line 1: {{/each}} ends or divides no block; take it out"),
        ("a\n{{else}}", "line 2: {{else}} ends or divides no block; take it out"),
        ("a\n\nb {{context.title", "line 3: {{" + UNCLOSED),
        ("{{!-- a }}", "line 1: {{" + UNCLOSED),
        ("{{{a}}", "line 1: {{{" + UNCLOSED),
        ("\n\\{{a}}", "line 2: \\{{ shows braces; write {{ '{{' }} in Jinja2"),
        ("{{{{raw}}}}x{{{{/raw}}}}", "line 1: {{{{ begins a raw block; write {% raw %}…{% endraw %} in Jinja2"),
        ("a\n  {{~#if b}}", "line 2: {{~#if b}} takes white space away; take the ~ out, and the white space around the tag"),
        ("{{#if b~}}", "line 1: {{#if b~}} takes white space away; take the ~ out, and the white space around the tag"),
        (
            "{{#if a}}" * (MAX_DEPTH + 2) + "{{/if}}" * (MAX_DEPTH + 2),
            f"line 1: more than {MAX_DEPTH} blocks are within each other; take some out",
        ),
    ],
)
def test_a_template_whose_structure_is_not_taken_is_refused_with_its_line_and_what_to_write(source: str, report: str) -> None:
    with pytest.raises(NotConverted) as refused:
        parse(source)
    assert str(refused.value) == report


def test_the_work_grows_with_the_length_of_a_template_alone() -> None:
    tags = 20_000
    nodes = parse("{{a}}\n" * tags)
    assert [node.line for node in nodes if isinstance(node, Value)] == list(range(1, tags + 1))
