"""Hints as text → what they say, or what is wrong with them."""

import json
from typing import Any

import pytest

from builder.adapters.templates.folder import TemplateFailed
from builder.extras.rcrt.llm_hints.rendering import MAX_CHARS, _read, read_hints


def template(source: str) -> dict[str, Any]:
    return {"transform": {"line": {"type": "template", "template": source}}}


def test_hints_are_read_in_the_order_of_their_keys_and_once() -> None:
    rule = {"type": "literal", "literal": 1}
    text = json.dumps({"transform": {"b": rule, "a": rule}, "include": ["x.y"], "mode": "merge"})
    hints = read_hints(text)
    assert ([key for key, _ in hints.transform], hints.include, hints.mode) == (["a", "b"], (("x", "y"),), "merge")
    assert read_hints(text) is hints
    info = _read.cache_info()
    assert info.maxsize is not None
    assert info.currsize <= info.maxsize


def test_hints_that_say_nothing_change_nothing() -> None:
    assert read_hints('{"comment":"later"}').is_empty
    assert read_hints('{"author":"Maya"}').is_empty
    assert read_hints('{"mode":"merge","transform":{},"include":[],"exclude":null}').is_empty


@pytest.mark.parametrize(
    ("hints", "reason"),
    [
        ({"inclde": ["title"]}, "there is no 'inclde' in hints; write include"),
        ({"tranform": {}, "comment": "x"}, "there is no 'tranform' in hints; write transform"),
        ({"Exclude": ["phone"]}, "there is no 'Exclude' in hints; write exclude"),
        ({"mode": "transform"}, "mode: 'transform' is no mode; use one of merge, replace"),
        ({"mode": "mrege"}, "mode: 'mrege' is no mode; write merge"),
        ({"include": "name"}, 'include: it is no list of paths; write ["name", "owner.*.id"]'),
        ({"exclude": ["a..b"]}, "exclude: 'a..b' is no path; write names with dots between them, such as tools.*.name"),
        ({"include": ["a"] * 201}, "include: it has more than 200 paths; use a wildcard"),
        ({"transform": ["x"]}, "transform: it is no object; write a key of the result and its rule"),
        ({"transform": {str(n): 1 for n in range(101)}}, "transform: it has more than 100 rules; take some out"),
        ({"transform": {"x": "y"}}, 'transform.x: it is no object; write {"type": "template", "template": "…"}'),
        ({"transform": {"x": {"type": "tempalte"}}}, "transform.x: the type 'tempalte' does not exist; write template"),
        ({"transform": {"x": {"type": "extract"}}}, "transform.x: it has no text under 'value'; add it"),
        ({"transform": {"x": {"type": "literal"}}}, "transform.x: it has no text under 'literal'; add it"),
        ({"transform": {"x": {"type": "format", "format": 7}}}, "transform.x: it has no text under 'format'; add it"),
        (template("{{ title }}"), "transform.line: 'title' is no value of a template; write context.title"),
        (template("{{ context.a | inlin }}"), "transform.line: line 1: there is no filter 'inlin'; write inline"),
        (template("{% if context.a %}"), "transform.line: line 1: a block is not closed: {% if %}; write {% endif %} after it"),
        (
            template("{{#each context.tools}}{{this.name}}{{/each}}"),
            "transform.line: it is a Handlebars template; convert it: context-builder hints convert",
        ),
        (
            template("{{ context.best.[0] }}"),
            "transform.line: it is a Handlebars template; convert it: context-builder hints convert",
        ),
        (
            {"transform": {str(n): {"type": "template", "template": "x" * 11_000} for n in range(3)}},
            "transform: its templates have more than 32,768 characters together; make them shorter",
        ),
        (template("x" * 16_385), "transform.line: the template has more than 16,384 characters; make it shorter"),
    ],
)
def test_a_refusal_names_the_rule_and_what_to_do(hints: dict[str, Any], reason: str) -> None:
    with pytest.raises(TemplateFailed) as refused:
        read_hints(json.dumps(hints))
    assert str(refused.value) == reason


def test_hints_are_bounded_in_size() -> None:
    with pytest.raises(TemplateFailed, match="they have more than 65,536 characters; make them smaller"):
        read_hints(json.dumps({"comment": "x" * MAX_CHARS}))


HARD = (
    "{{ " + "(" * 4_000 + "1" + ")" * 4_000 + " }}",
    "{% if 1 %}" * 800,
    "{{ " + "-" * 8_000 + "1 }}",
    "{{ 1" + "~1" * 6_000 + " }}",
    "{{ context" + ".a" * 7_000 + " }}",
    "{{ context" + "|upper" * 2_000 + " }}",
    "{{ " + "9" * 9_000 + " }}",
    "{% include 'x' %}",
)


def refusal(hints: dict[str, Any]) -> str:
    try:
        read_hints(json.dumps(hints))
    except TemplateFailed as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("source", HARD)
def test_a_template_that_is_hard_to_compile_is_read_or_refused(source: str) -> None:
    assert refusal(template(source))[:16] in {"", "transform.line: "}
