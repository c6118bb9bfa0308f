"""Handlebars templates and what they are in Jinja2: rendered, not compared as sources."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.handlebars.jinja import Conversion, convert
from builder.adapters.templates.sandbox.environment import Sandbox
from builder.adapters.templates.sandbox.meter import Limits, metered
from builder.adapters.templates.sandbox.missing import marked
from builder.assemble.items.list_items import MARK
from builder.domain.control_text import visible
from tests.examples import examples

MESSAGES = [{"role": "user", "content": "What was that API key?"}, {"role": "assistant", "content": "OPENROUTER_API_KEY"}]
CONTEXT: dict[str, Any] = {
    "title": "Kilns",
    "messages": MESSAGES,
    "owner": {"name": "Maya", "tags": ["a", "b"]},
    "by_room": {"cellar": "cold", "roof": "hot"},
    "empty": [],
    "two": 2,
    "html": '<b>"A" & B</b>',
    "rooms": [{"name": "cellar", "kilns": ["K1", "K2"]}, {"name": "roof", "kilns": []}],
    "key": "roof",
    "with-dash": "dashed",
}


def rendered(conversion: Conversion, context: dict[str, Any] = CONTEXT) -> str:
    template = Sandbox().from_string(conversion.text)
    with metered(Limits(), 100_000):
        text = "".join(template.root_render_func(template.new_context({"context": marked(context)})))
    return text.replace(MARK, "")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Title: {{context.title}}!", "Title: Kilns!"),
        ("{{{context.html}}} {{& context.html}} {{context.html}}", " ".join([CONTEXT["html"]] * 3)),
        ("{{ context.owner.name }} {{context.owner.tags.[1]}} {{context.[with-dash]}}", "Maya b dashed"),
        ("[{{context.nothing}}{{context.nothing.at.all}}]", "[]"),
        ("{{#each context.owner.tags}}{{@index}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}", "0a, 1b"),
        ("{{#each context.owner.tags}}{{#if @first}}first {{/if}}{{.}} {{/each}}", "first a b "),
        ("{{#each context.by_room}}{{@key}}: {{this}}; {{/each}}", "cellar: cold; roof: hot; "),
        ("{{#each context.empty}}x{{else}}none{{/each}}", "none"),
        ("{{#each context.empty}}x{{^}}none{{/each}}", "none"),
        (
            "{{#each context.rooms}}{{name}}({{#each kilns}}{{../name}}/{{this}} {{/each}}){{/each}}",
            "cellar(cellar/K1 cellar/K2 )roof()",
        ),
        ("{{#each context.rooms}}{{../context.title}} {{@root.context.key}} {{/each}}", "Kilns roof Kilns roof "),
        ("{{#each context.rooms as |room number|}}{{number}}{{room.name}} {{/each}}", "0cellar 1roof "),
        ("{{#with context.owner}}{{name}} of {{../context.title}}{{else}}nobody{{/with}}", "Maya of Kilns"),
        ("{{#with context.nobody}}{{name}}{{else}}nobody{{/with}}", "nobody"),
        ("{{#with context.owner as |o|}}{{o.name}}{{/with}}", "Maya"),
        ("{{#if context.title}}yes{{else}}no{{/if}} {{#if context.empty}}yes{{else}}no{{/if}}", "yes no"),
        ("{{#unless context.empty}}yes{{else}}no{{/unless}}", "yes"),
        ("{{^context.empty}}yes{{/context.empty}}", ""),
        ("{{#if (eq context.two 1)}}one{{else if (eq context.two 2)}}two{{else}}many{{/if}}", "two"),
        ("{{#if context.nothing}}a{{else unless context.title}}b{{else}}c{{/if}}", "c"),
        ("{{#if context.nothing}}a{{else}}{{#if context.title}}b{{/if}}{{/if}}", "b"),
        ("{{#if (and context.title (not context.empty))}}both{{/if}}", "both"),
        ("{{#if (or context.empty (gt context.two 1))}}one{{/if}}", "one"),
        ("{{#if (lte context.two 1.5)}}x{{/if}}{{#if (ne context.title 'Ovens')}}other{{/if}}", "other"),
        ("{{lookup context.by_room context.key}} {{lookup context.owner.tags 0}} {{len context.messages}}", "hot a 2"),
        ("a{{!-- a comment with }} in it --}}b{{! short }}c", "abc"),
        ("a   {{~context.title~}}   b", "aKilnsb"),
        ("a {{~#if context.title~}} b {{~else~}} c {{~/if~}} d", "abd"),
        ("\\{{context.title}} {{context.title}}", "{{context.title}} Kilns"),
        ("{% if x %}{# no #}{ {{context.two}} }{{context.two}}{", "{% if x %}{# no #}{ 2 }2{"),
        ("{{#each context.owner.tags}}\n- {{this}}\n{{/each}}\nend", "- a\n- b\nend"),
        ("  {{#if context.title}}\n    in\n  {{/if}}\nout", "    in\nout"),
        ("x {{#if context.title}}\n  in{{/if}}\nout", "x \n  in\nout"),
        ("{{#if context.title}}{{context.title}}{{/if}}\n\nnext", "Kilns\n\nnext"),
        ("line\n{{!-- alone --}}\nnext", "line\nnext"),
        ("{{context.title}}\n  {{#if context.two}}in{{/if}}", "Kilns\n  in"),
    ],
)
def test_a_template_shows_what_it_showed(source: str, text: str) -> None:
    conversion = convert(source)
    if text:
        assert conversion.problems == ()
    assert rendered(conversion) == text


def test_the_example_of_the_document_on_formatting_is_the_transcript_that_it_shows() -> None:
    source = (
        "Recent conversation:\n{{#each context.messages}}\n"
        '{{#if (eq this.role "user")}}User{{else}}Assistant{{/if}}: {{this.content}}\n{{/each}}'
    )
    conversion = convert(source)
    assert conversion.problems == ()
    assert rendered(conversion) == ("Recent conversation:\nUser: What was that API key?\nAssistant: OPENROUTER_API_KEY\n")


@pytest.mark.parametrize(
    ("source", "line", "problem", "severity"),
    [
        ("\n{{> footer}}", 2, "a partial {{> footer}} has no counterpart", "error"),
        ("{{#> layout}}", 1, "a decorator {{#> layout}} has no counterpart", "error"),
        ("{{* decorate}}", 1, "a decorator {{* decorate}} has no counterpart", "error"),
        ("{{{{raw}}}}x{{{{/raw}}}}", 1, "a raw block {{{{…}}}} is not taken", "error"),
        ("{{shout context.title}}", 1, "the helper 'shout' with 1 arguments is unknown", "error"),
        ("{{#if (any context.list)}}x{{/if}}", 1, "the helper 'any' with 1 arguments is unknown", "error"),
        ("{{#repeat 3}}x{{/repeat}}", 1, "the block {{#repeat}} is unknown to RCRT", "error"),
        ("{{#context.rooms}}x{{/context.rooms}}", 1, "the block {{#context.rooms}} is unknown to RCRT", "error"),
        ("{{#if context.zero includeZero=true}}x{{/if}}", 1, "includeZero= of {{#if}} is left out", "error"),
        ("{{#each}}x{{/each}}", 1, "{{#each}} takes one value", "error"),
        ("{{#each context.a}}{{#each b}}{{@../index}}{{../@index}}{{/each}}{{/each}}", 1, "../@index is no value here", "error"),
        ("{{@index}}", 1, "@index is no value here", "error"),
        ("{{../context.title}}", 1, "../ leads out of all blocks", "error"),
        ("a\n{{#if x}}b", 2, "the block if is not closed", "error"),
        ("{{/each}}", 1, "{{/each}} ends or divides no block", "error"),
        ("{{#if context.a}}x{{/each}}", 1, "the block if is not closed", "error"),
        ("{{context.title", 1, "a tag is not closed", "error"),
        ("{{}}", 1, "a tag is empty", "error"),
        ("{{context.a =}}", 1, "'=' is no expression", "error"),
        ("{{#if (eq context.a}}x{{/if}}", 1, "a bracket is not closed", "error"),
        ("# {{title}}", 1, "{{title}} is empty in RCRT, whose data are under context", "note"),
        ("{{context.rooms.length}}", 1, "RCRT shows nothing for .length", "note"),
        ("{{#each context.rooms}}{{context.title}}{{/each}}", 1, "within a block context.title is a field of its item", "note"),
        ("{{log context.title}}", 1, "{{log}} shows nothing and is left out", "note"),
        ("{{#if a}}" * 60 + "{{/if}}" * 60, 1, "more than 50 blocks stand in each other", "error"),
        ("x" * 65_537, 1, "it has more than 65,536 characters", "error"),
    ],
)
def test_what_cannot_be_converted_is_reported_with_its_line(source: str, line: int, problem: str, severity: str) -> None:
    conversion = convert(source)
    found = [(each.line, each.problem, each.severity) for each in conversion.problems]
    assert any(each[0] == line and each[1].startswith(problem) and each[2] == severity for each in found), found
    assert all(each.fix for each in conversion.problems)
    rendered(conversion)


def test_what_is_not_converted_is_a_remark_in_the_template() -> None:
    assert rendered(convert("a{{> footer}}b")) == "ab"
    assert "{# line 1 of the Handlebars template is not converted #}" in convert("a\n{{> footer}}\n").text.replace(
        "line 2", "line 1"
    )


def test_in_a_hint_template_the_body_is_called_body() -> None:
    assert convert("{{context.title}}{{#each context.rooms}}{{name}}{{/each}}", "body").text == (
        "{{ body.title }}{% for this in body.rooms %}{{ this.name }}{% endfor %}"
    )


BRACES = st.text(st.sampled_from("{}%#-+~ \n\t\\/'\"abü\r"), max_size=40)


@examples(300)
@given(st.one_of(BRACES, st.text(max_size=40)))
def test_text_without_tags_renders_as_a_page_shows_it_whatever_it_contains(text: str) -> None:
    plain = re.sub(r"\{(?=\{)", "{ ", text.replace(MARK, "")).replace("{{", "{ {")
    conversion = convert(plain)
    assert conversion.problems == ()
    assert rendered(conversion) == visible(re.sub("\r\n?", "\n", plain))


TAGS = (
    *("{{context.title}}", "{{#if context.title}}", "{{else}}", "{{/if}}", "{{#each context.rooms}}", "{{/each}}", "{{> x}}"),
    *("{{~", "~}}", "{{", "}}", "{{!--", "--}}", "{{{", "}}}", "{%", "#}", "\\", "(", ")", "|a|", "as", "../", "@index", "eq"),
    *("\n", " ", "'"),
)


@examples(300)
@given(st.lists(st.sampled_from(TAGS), max_size=12).map("".join))
def test_anything_is_converted_or_reported_and_what_comes_out_compiles(source: str) -> None:
    conversion = convert(source)
    assert conversion.text or conversion.problems or not source.strip() or "{{" in source
    rendered(conversion)


TEXTS = st.text(st.sampled_from("ab{%# \n}"), max_size=6)


@examples(300)
@given(TEXTS, TEXTS, TEXTS)
def test_white_space_around_a_block_is_that_of_handlebars(before: str, inner: str, behind: str) -> None:
    """A tag that stands alone in its line takes the line with it; else nothing is taken."""
    before, inner, behind = (re.sub(r"\{+", "{", part) for part in (before + "a", inner + "a", behind))
    before, inner = (part.removesuffix("{a") + "a" for part in (before, inner))
    source = f"{before}{{{{#if context.title}}}}b{inner}{{{{/if}}}}c{behind}"
    assert rendered(convert(source)) == f"{before}b{inner}c{behind}"
