"""Handlebars templates and what they are in Jinja2: rendered, not compared as sources."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.templates.sandbox.environment import Sandbox
from builder.adapters.templates.sandbox.runtime import Limits, marked, metered
from builder.assemble.items.list_items import MARK
from builder.domain.control_text import visible
from builder.extras.rcrt.jinja import BY_HAND, Conversion, convert
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
    "tools": [
        {"name": "kiln", "output": {"properties": {"heat": 1, "hours": 2}}, "examples": [{"text": "fires"}]},
        {"name": "wheel", "output": {}, "examples": []},
    ],
    "cable": {"length": 5},
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
        ("{{ context.owner.name }} {{context.owner.tags.[1]}} {{context.[with-dash]}}", "Maya b dashed"),
        ("[{{context.nothing}}{{context.nothing.at.all}}]", "[]"),
        ("{{#each context.owner.tags}}{{@index}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}", "0a, 1b"),
        ("{{#each context.owner.tags}}{{#if @first}}first {{/if}}{{.}} {{/each}}", "first a b "),
        ("{{#each context.by_room}}{{@key}}: {{this}}; {{/each}}", "cellar: cold; roof: hot; "),
        ("{{{context.html}}} {{context.html}}", " ".join([CONTEXT["html"]] * 2)),
        ("{{#each context.empty}}x{{else}}none{{/each}}", "none"),
        ("{{#each context.empty}}x{{else if context.two}}two{{else}}none{{/each}}", "two"),
        ("{{#each context.rooms}}{{#with ../context.owner}}{{./name}}{{../../context.two}} {{/with}}{{/each}}", "Maya2 Maya2 "),
        ("{{#with context}}{{title}} {{this.two}}{{/with}} {{this.context.two}}", "Kilns 2 2"),
        ("{{#each context.empty}}x{{^}}none{{/each}}", "none"),
        (
            "{{#each context.rooms}}{{name}}({{#each kilns}}{{../name}}/{{this}} {{/each}}){{/each}}",
            "cellar(cellar/K1 cellar/K2 )roof()",
        ),
        ("{{#with context.owner}}{{name}} of {{../context.title}}{{else}}nobody{{/with}}", "Maya of Kilns"),
        ("{{#with context.nobody}}{{name}}{{else}}nobody{{/with}}", "nobody"),
        ("{{#if context.title}}yes{{else}}no{{/if}} {{#if context.empty}}yes{{else}}no{{/if}}", "yes no"),
        ("{{#unless context.empty}}yes{{else}}no{{/unless}}", "yes"),
        ("{{#if context.nothing}}a{{else if context.empty}}b{{else unless context.title}}c{{else}}d{{/if}}", "d"),
        ("{{#if context.nothing}}a{{else each context.owner.tags}}{{this}}{{/if}}", "ab"),
        ("{{#if context.items}}a{{/if}}{{#each context.values}}b{{/each}}{{context.keys}}{{context.items.name}}", ""),
        ("{{context.cable.length}}", "5"),
        ("{{#if context.nothing}}a{{else}}{{#if context.title}}b{{/if}}{{/if}}", "b"),
        ("a{{!-- a comment with }} in it --}}b{{! short }}c", "abc"),
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
    assert [problem for problem in conversion.problems if problem.severity == "error"] == []
    assert rendered(conversion) == text


def test_a_catalog_of_tools_lists_the_names_of_their_fields() -> None:
    source = (
        "{{context.two}} tools:\n\n{{#each context.tools}}\n* {{this.name}}\n"
        "  Output: {{#if this.output.properties}}{{#each this.output.properties}}{{@key}}{{#unless @last}}, {{/unless}}{{/each}}"
        "{{else}}none{{/if}}\n  {{#if this.examples.[0]}}Example: {{this.examples.[0].text}}{{/if}}\n{{/each}}\n\nUse them."
    )
    conversion = convert(source)
    assert {problem.severity for problem in conversion.problems} == {"note"}
    assert rendered(conversion) == (
        "2 tools:\n\n* kiln\n  Output: heat, hours\n  Example: fires\n* wheel\n  Output: none\n  \n\nUse them."
    )


@pytest.mark.parametrize(
    ("source", "line", "problem", "severity"),
    [
        ("\n{{> footer}}", 2, "{{> footer}} is not converted", "error"),
        ("{{#> layout}}x{{/layout}}", 1, "{{#> layout}} is not converted", "error"),
        ('{{#*inline "x"}}y{{/inline}}', 1, '{{#*inline "x"}} is not converted', "error"),
        ("{{* decorate}}", 1, "{{* decorate}} is not converted", "error"),
        ("{{shout context.title}}", 1, "{{shout context.title}} is not converted", "error"),
        ("{{& context.title}}", 1, "{{& context.title}} is not converted", "error"),
        ("{{#if (any context.list)}}x{{/if}}", 1, "{{#if (any context.list)}} is not converted", "error"),
        ("{{#if context.a}}{{else if (eq context.b 1)}}x{{/if}}", 1, "{{else if (eq context.b 1)}} is not converted", "error"),
        ("{{#repeat 3}}x{{else}}y{{/repeat}}", 1, "{{#repeat 3}} is not converted", "error"),
        ("{{^context.rooms}}x{{/context.rooms}}", 1, "{{^context.rooms}} is not converted", "error"),
        ("{{#each context.rooms as |room|}}x{{/each}}", 1, "{{#each context.rooms as |room|}} is not converted", "error"),
        ("{{#if context.zero includeZero=true}}x{{/if}}", 1, "{{#if context.zero includeZero=true}} is not converted", "error"),
        ("{{#if true}}x{{/if}}", 1, "{{#if true}} is not converted", "error"),
        ("a\nb {{'text'}}", 2, "{{'text'}} is not converted", "error"),
        ("{{ }}", 1, "{{}} is not converted", "error"),
        ("{{#each}}x{{/each}}", 1, "{{#each}} is not converted", "error"),
        ("{{#each context.a}}{{#each b}}{{../@index}}{{/each}}{{/each}}", 1, "{{../@index}} is not converted", "error"),
        ("{{#each context.a}}{{#with b}}{{@index}}{{/with}}{{/each}}", 1, "{{@index}} is not converted", "error"),
        ("{{#each context.a}}{{@root.context.title}}{{/each}}", 1, "{{@root.context.title}} is not converted", "error"),
        ("{{@index}}", 1, "{{@index}} is not converted", "error"),
        ("{{../context.title}}", 1, "{{../context.title}} is not converted", "error"),
        ("{{title}}\n{{title}}", 2, "{{title}} is empty in RCRT, whose data are under context", "note"),
        ("{{context.rooms.length}}", 1, "RCRT shows nothing for .length of a list", "note"),
        ("{{#each context.rooms}}{{context.title}}{{/each}}", 1, "within a block context.title is a field of its item", "note"),
        ("{{#each context.by_room}}{{this}}{{/each}}", 1, "{{#each}} without {{@key}} is written for a list", "note"),
        ("{{context.by_year.2024}}", 1, "a number in a path is written as a place in a list", "note"),
    ],
)
def test_what_cannot_be_converted_is_reported_with_its_line(source: str, line: int, problem: str, severity: str) -> None:
    conversion = convert(source)
    found = [(each.line, each.problem, each.severity) for each in conversion.problems]
    assert (line, problem, severity) in found
    assert all(each.fix for each in conversion.problems)
    assert severity == "note" or "not converted #}" in conversion.text
    rendered(conversion)


@pytest.mark.parametrize("word", BY_HAND)
def test_a_refusal_says_what_to_write_by_hand(word: str) -> None:
    sources = {
        "|": "{{#with context.a as |a|}}{{/with}}",
        "includeZero": "{{#if context.a includeZero=true}}{{/if}}",
        "^": "{{^a}}{{/a}}",
        "..": "{{../a}}",
    }
    (problem,) = convert(sources.get(word, f"{{{{{word} context.a context.b}}}}")).problems
    assert problem.fix == BY_HAND[word]


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
