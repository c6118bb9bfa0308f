"""Whatever the grammar of templates can say over whatever body, rendering ends within its limits and shows no internals."""

import json
from typing import Any

from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from builder.adapters.files import FaultyFiles
from builder.adapters.templates.folder import TemplateFailed, TemplateSet
from builder.adapters.templates.sandbox.environment import sandbox
from builder.adapters.templates.sandbox.runtime import Limits, marked
from tests.examples import examples
from tests.payloads import leaks

LIMITS = Limits(steps=2_000, characters=100_000, seconds=2)
WORDS = [
    *["body", "text", "body.a", "body.list", "x", "y", "tags", "words"] * 4,
    *["id", "m", "loop", "self", "caller", "nothing", "_"],
]
FIELDS = ["a", "b", "items", "keys", "get", "upper", "format", "index", "length", "__class__", "_x", "cycle", "count", "values"]
TEXTS = [
    "", "a", "x y", "{0}", "{0.__class__}", "%s", "%d", "__class__", "a.b", "upper", "1", "\\n", "{{ x }}", "{x:9}", "%5s", "-",
]  # fmt: skip
FILTERS = sorted({*sandbox().filters, "attr", "center", "format", "groupby", "xmlattr"})
TESTS = sorted(name for name in sandbox().tests if name.isidentifier() and name not in {"in", "true", "false", "none"})
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", ">=", "!=", "in", "not in", "and", "or"]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "") + "'"


ATOMS = st.one_of(
    st.sampled_from(WORDS),
    st.integers(-9, 10**6).map(str),
    st.sampled_from(TEXTS).map(quoted),
    st.sampled_from(["true", "none", "1.5", "[]", "{}", "body.a", "body.list", "tags[0]"]),
)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions of expressions."""
    arguments = st.lists(inner, max_size=2).map(", ".join)
    return st.one_of(
        st.builds("{}.{}".format, inner, st.sampled_from(FIELDS)),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:{}]".format, inner, inner, inner),
        st.builds("{}({})".format, inner, arguments),
        st.builds("{}.{}({})".format, inner, st.sampled_from(FIELDS), arguments),
        st.builds("({} | {})".format, inner, st.sampled_from(FILTERS)),
        st.builds("({} | {}({}))".format, inner, st.sampled_from(FILTERS), arguments),
        st.builds("({} | {}(attribute={}))".format, inner, st.sampled_from(["map", "sort", "sum", "groupby", "join"]), inner),
        st.builds("({} is {})".format, inner, st.sampled_from(TESTS)),
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}]".format, arguments),
        st.builds("{{{}: {}}}".format, inner, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, grown, max_leaves=6)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Statements around statements."""
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.builds("{{% for x in {} %}}{}{{% else %}}-{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% for x in {} recursive %}}{}{{{{ loop(x) }}}}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% for x, y in {} if {} %}}{}{{% endfor %}}".format, EXPRESSIONS, EXPRESSIONS, inner),
        st.builds("{{% if {} %}}{}{{% elif {} %}}y{{% endif %}}".format, EXPRESSIONS, inner, EXPRESSIONS),
        st.builds("{{% set x = {} %}}{}".format, EXPRESSIONS, inner),
        st.builds("{{% set x %}}{}{{% endset %}}{{{{ x }}}}".format, inner),
        st.builds("{{% macro m(x, y={}) %}}{}{{% endmacro %}}{{{{ m({}) }}}}".format, EXPRESSIONS, inner, EXPRESSIONS),
        st.builds("{{% with x = {} %}}{}{{% endwith %}}".format, EXPRESSIONS, inner),
        st.builds("{{% filter {} %}}{}{{% endfilter %}}".format, st.sampled_from(FILTERS), inner),
    )


TEMPLATES = st.recursive(EXPRESSIONS.map("{{{{ {} }}}}".format) | st.sampled_from(["text", "- ", "\n"]), blocks, max_leaves=5)
BODIES = st.dictionaries(
    st.sampled_from(["a", "b", "list", "items", "__class__", "x y"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=10,
    ),
    max_size=4,
)


def rendered(source: str, body: dict[str, Any], text: str) -> str:
    """What the hint shows, or why it does not."""
    values = {"speaker": "User", "text": text, "body": marked(body), "tags": ("a", "b"), "words": {"x": "{n} y"}, "id": "m1"}
    try:
        templates = TemplateSet({"generic": "{{ text }}", "t": source}, {}, limits=LIMITS)
        return templates.hint("t", values, len(json.dumps(body)) + len(text))
    except (FaultyFiles, TemplateFailed) as error:
        return str(error)


@examples(1_500, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(TEMPLATES, BODIES, st.text(max_size=30))
@example("{{ text[body.a] }}{{ body.list[body.a] }}", {"list": [1]}, "x")
def test_any_template_over_any_body_ends_within_its_limits_and_shows_no_internals(
    source: str, body: dict[str, Any], text: str
) -> None:
    shown = rendered(source, body, text)
    assert len(shown) <= LIMITS.characters + LIMITS.characters_each * (len(json.dumps(body)) + len(text))
    assert leaks(shown, source + text + json.dumps(body, ensure_ascii=False) + "1337 191191191 Undefined") == []


@examples(300)
@given(st.text(st.sampled_from("{}%#()[]|.~'\"\\ \n-+*/=<>:,_abx19"), max_size=60))
def test_any_source_at_all_is_refused_with_a_sentence_or_runs(source: str) -> None:
    assert leaks(rendered(source, {"a": 1}, "hello"), source + "1337 191191191 Undefined") == []
