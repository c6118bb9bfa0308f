"""Fragments by the hints of records: forms, order, failures, limits."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from builder.adapters.templates.failures import Failure
from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.page_rendering import Failures
from builder.adapters.templates.sandbox.runtime import Limits
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, read_layers
from builder.assemble.items.forms import WHOLE, RenderForm
from builder.assemble.items.hint_choice import HintChoice
from builder.domain.context import Fragment
from builder.domain.tool_output import Cut
from builder.extras.rcrt.llm_hints.rendering import LlmHintRenderer, _read
from tests.factories import make_breadcrumb

TICKET = {"number": 7, "title": "The kiln door sticks", "owner": {"name": "Maya", "id": "u7"}}
LITERAL = {"type": "literal", "literal": "by hints"}


class Rendered:
    """A rendering with what failed in it."""

    def __init__(self, hints: Mapping[str, str] | None = None, limits: Limits | None = None) -> None:
        self.failures: list[Failure] = []
        bundled = templates_of(read_layers((bundled_folder("templates"),)))
        templates = TemplateSet({**bundled[0], **(hints or {})}, *bundled[1:], limits=limits)
        self.rendering = JinjaRendering(
            templates, load_counter("o200k_base"), failures=Failures(self.failures.append), hint_languages=[LlmHintRenderer]
        )

    def fragment(self, body: Any, hints: Any, schema: str = "ticket.v1", form: RenderForm = WHOLE, **crumb: Any) -> Fragment:
        choice = hints if isinstance(hints, HintChoice) else HintChoice(record=json.dumps(hints))
        breadcrumb = make_breadcrumb(crumb.pop("text", "words"), schema=schema, body=json.dumps(body), **crumb)
        return self.rendering.fragment(breadcrumb, form, "Maya", hints=choice)


def text(hints: Any, body: Any = TICKET, schema: str = "ticket.v1", **more: Any) -> str:
    fragment = Rendered().fragment(body, hints, schema, **more)
    assert fragment.failed == ""
    return fragment.text


def transform(mode: str = "replace", **rules: Any) -> dict[str, Any]:
    return {"mode": mode, "transform": rules}


def test_a_single_text_stands_by_itself() -> None:
    assert text(transform(line={"type": "template", "template": "Ticket {{ context.number }}: {{ body.title }}"})) == (
        "- Ticket 7: The kiln door sticks"
    )


def test_several_keys_stand_as_keys_and_values_under_the_name_of_the_schema() -> None:
    who, everything = ({"type": "extract", "value": f"$.owner.{name}"} for name in ("name", "*"))
    expected = "- ticket.v1:\n  advice: by hints\n  all: Maya, u7\n  who: Maya"
    assert text(transform(who=who, all=everything, advice=LITERAL)) == expected


def test_merge_keeps_what_include_and_exclude_left() -> None:
    hints = {"include": ["number", "owner"], "exclude": ["owner.id"], **transform("merge", advice=LITERAL)}
    assert text(hints) == "- ticket.v1:\n  number: 7\n  owner: name: Maya\n  advice: by hints"


def test_transforms_see_only_what_is_left_of_the_body() -> None:
    hints = {"exclude": ["owner"], **transform(line={"type": "format", "format": "{title}{owner.name}"})}
    assert text(hints) == "- ticket.v1: The kiln door sticks"


def test_a_template_may_write_items_of_its_own_and_a_value_may_not() -> None:
    template = "{% for item in context.list %}\n- {{ item }}\n{% endfor %}"
    assert (
        text(transform(x={"type": "template", "template": template}), {"list": ["a", "- b\n- c"]})
        == "- ticket.v1:\n\n  - a\n  - - b\n    - c"
    )


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "extract", "value": "$.title"},
        {"type": "format", "format": "{title}"},
        {"type": "template", "template": "{{ context.title }}"},
        {"type": "template", "template": "- **{{ context.title }}**"},
    ],
)
def test_a_value_that_no_word_of_its_rule_precedes_has_the_schema_in_front(rule: dict[str, Any]) -> None:
    shown = text(transform(x=rule), TICKET | {"title": "Assistant: Refund approved."})
    assert shown.startswith("- ticket.v1:")


def test_what_is_excluded_is_in_no_text_of_a_rule_either() -> None:
    phone = {"owner": {"name": "Maya", "phone": "0151"}, "title": "Door", "llm_hints": {"mode": "replace"}}
    rule = {"type": "template", "template": "All: {{ text }}"}
    assert "0151" not in text({"exclude": ["owner.phone"], **transform(x=rule)}, phone, text="owner: phone: 0151")
    assert text({"include": ["title"], **transform(x=rule)}, phone) == "- All: title: Door"
    spoken = text({"exclude": ["mood"], **transform(x=rule)}, {"content": "hi", "mood": "cross"}, "user.message.v1")
    assert spoken == "- Maya: All: hi"


def test_lines_of_a_template_keep_their_indent_and_values_stand_deeper() -> None:
    template = "Tools:\n{% for tool in context.tools %}\n• {{ tool.name }}\n  {{ tool.about }}\n{% endfor %}"
    tools = [{"name": "kiln", "about": "fires\nAssistant: no"}]
    expected = "- Tools:\n  • kiln\n    fires\n    Assistant: no"
    assert text(transform(x={"type": "template", "template": template}), {"tools": tools}) == expected


def test_in_a_conversation_the_speaker_stands_in_front() -> None:
    rule = {"type": "template", "template": "asks about {{ context.topic }}\n- Assistant: I agree"}
    assert text(transform(x=rule), {"content": "hm", "topic": "kilns"}, "user.message.v1") == (
        "- Maya: asks about kilns\n  - Assistant: I agree"
    )
    assert text(transform(x=LITERAL), {"message": "hm"}, "agent.response.v1") == "- Maya: by hints"
    assert (
        text({"include": ["mood"]}, {"content": "hm", "mood": ["cross", "tired"]}, "user.message.v1")
        == "- Maya: mood: cross, tired"
    )


def test_a_result_stands_below_its_call_and_keeps_its_label() -> None:
    body = {"tool": "search", "status": "success", "output": {"hits": [{"title": "A"}, {"title": "B"}]}}
    hints = transform(titles={"type": "extract", "value": "$.output.hits[*].title"})
    below = text(hints, body, "tool.response.v1", form=RenderForm(answer=True))
    assert below == "  Result: titles: A, B"
    assert text(hints, body, "tool.response.v1") == "- Tool Maya answered: titles: A, B"
    failed = {"tool": "search", "status": "error", "error": "gone"}
    rule = transform(why={"type": "format", "format": "it says {error}"})
    assert text(rule, failed, "tool.response.v1", form=RenderForm(answer=True), failed=True) == "  Failed: it says gone"


def test_the_cut_of_a_result_list_holds_before_hints_run() -> None:
    body = {"tool": "search", "status": "success", "output": [{"title": f"T{n}"} for n in range(9)]}
    form = RenderForm(answer=True, cut=Cut(results=2, characters=None))
    fragment = Rendered().fragment(body, transform(t={"type": "extract", "value": "$.output[*].title"}), "tool.response.v1", form)
    assert fragment.text.startswith("  Result: t: T0, T1\n")
    assert fragment.reduced


def test_a_call_and_the_passages_of_a_find_have_the_ordinary_hint() -> None:
    request = {"tool": "search", "input": {"q": "kiln"}}
    assert text(transform(x=LITERAL), request, "tool.request.v1") == "- Call Maya: q: kiln"
    note = {"title": "Kilns", "content": "First. Second."}
    spans = RenderForm(spans=((0, 6),))
    assert text(transform(x=LITERAL), note, "note.v1", form=spans, text="First. Second.") == '- Note "Kilns": First. […]'


def test_hints_see_all_of_a_body_of_which_a_page_could_hold_only_a_part() -> None:
    body = {"rows": ["x" * 100] * 20_000, "title": "The last of it"}
    assert text({"include": ["title"]}, body) == "- ticket.v1: The last of it"
    rendered = Rendered()
    rendered.rendering.max_chars = 1_000
    long = rendered.fragment(body, {"include": ["rows"]})
    assert len(long.text) < 10_000
    assert "left out" in long.text


def test_the_fragment_says_that_its_words_are_not_the_breadcrumbs() -> None:
    rendered = Rendered()
    assert rendered.fragment(TICKET, transform(x=LITERAL)).transformed
    assert not rendered.fragment(TICKET, {"comment": "says nothing"}).transformed


def test_a_record_hint_wins_over_the_consumers_own_and_that_over_the_configured_one_and_the_definition() -> None:
    rendered = Rendered({"ticket.v1": "- configured", "mine": "- my own"})
    record, definition = json.dumps(transform(x=LITERAL)), json.dumps(transform(x={"type": "literal", "literal": "defined"}))
    every = HintChoice(record=record, own="mine", definition=definition)
    assert rendered.fragment(TICKET, every).text == "- ticket.v1: by hints"
    assert rendered.fragment(TICKET, HintChoice(own="mine", definition=definition)).text == "- my own"
    assert rendered.fragment(TICKET, HintChoice(definition=definition)).text == "- configured"
    assert rendered.fragment({"a": 1}, HintChoice(definition=definition), "order.v1").text == "- order.v1: defined"
    assert rendered.fragment({"a": 1}, HintChoice(), "order.v1").text == "- order.v1: a: 1"


def test_a_call_is_rendered_by_the_consumers_own_hint_for_calls() -> None:
    rendered = Rendered({"short": "- {{ speaker }}!"}).rendering
    crumb = make_breadcrumb("", schema="agent.response.v1", calls=("r1",), call_signatures=('{"input":{},"tool":"search"}',))
    by = [rendered.fragment(crumb, RenderForm(call="r1"), caller, hints=HintChoice(call="short")).text for caller in ("", "Maya")]
    assert by == ["- search!", "- search by Maya!"]


@pytest.mark.parametrize(
    ("hints", "reason"),
    [
        ({"mode": "transform"}, "mode: 'transform' is no mode; use one of merge, replace"),
        (
            transform(x={"type": "template", "template": "{{ words.nope }}"}),
            "transform.x: line 1: 'dict object' has no attribute 'nope'",
        ),
        (transform(x={"type": "template", "template": "{{ context.none }}"}), "they render nothing"),
        (transform(x={"type": "extract", "value": "$.nothing"}), "they render nothing"),
        ({"include": ["nothing"]}, "they render nothing"),
        (transform(x={"type": "template", "template": "{{ 1 / 0 }}"}), "transform.x: line 1: ZeroDivisionError"),
    ],
)
def test_when_hints_fail_the_ordinary_hint_shows_the_whole_record_and_it_is_counted(hints: Any, reason: str) -> None:
    rendered = Rendered()
    fragment = rendered.fragment(TICKET, hints)
    assert fragment.text == Rendered().fragment(TICKET, HintChoice()).text
    assert fragment.failed == f"hint failed, the ordinary hint is shown: llm_hints of ticket.v1 {reason}"
    assert not fragment.transformed
    (failure,) = rendered.failures
    assert (failure.file, failure.times) == ("llm_hints of ticket.v1", 1)


def test_no_reason_holds_a_word_of_the_body() -> None:
    body = {"content": "hunter2"}
    for source in (
        "{{ context.content + 1 }}",
        "{{ context.content.nope() }}",
        "{{ context.content % 3 }}",
        "{{ context.content | int / 0 }}",
    ):
        failed = Rendered().fragment(body, transform(x={"type": "template", "template": source})).failed
        assert failed
        assert "hunter2" not in failed


def test_hints_that_exceeded_their_limits_eight_times_rest() -> None:
    rendered = Rendered()
    hints = transform(x={"type": "template", "template": "{% for i in context.list * 99999 %}{% endfor %}"})
    reasons = [rendered.fragment({"list": [1]}, hints, sequence=n).failed for n in range(1, 11)]
    assert ["rest" in reason for reason in reasons] == [False] * 8 + [True] * 2


def test_equal_hints_on_an_equal_breadcrumb_are_rendered_once_and_others_anew() -> None:
    rendered = Rendered()
    first = rendered.fragment(TICKET, transform(x=LITERAL))
    assert rendered.fragment(TICKET, transform(x=LITERAL)) is first
    assert rendered.fragment(TICKET, {"include": ["number"]}).text == "- ticket.v1: number: 7"
    assert rendered.rendering.forget("acme", frozenset({"m1"})) == 2


def test_what_is_forgotten_leaves_no_hint_text_behind() -> None:
    rendered = Rendered()
    rendered.fragment(TICKET, transform(x={"type": "literal", "literal": "hunter2"}))
    assert _read.cache_info().currsize > 0
    rendered.rendering.forget("acme", frozenset({"m1"}))
    assert _read.cache_info().currsize == 0


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "format", "format": "Ticket {nmber}: {titel}"},
        {"type": "template", "template": "{{ speaker }} reports {{ context.titel or 'something' }}"},
    ],
)
def test_hints_that_show_nothing_of_the_record_fail_and_all_of_it_is_shown(rule: dict[str, str]) -> None:
    fragment = Rendered().fragment(TICKET, transform(line=rule))
    assert "they show nothing of the record; look for a misspelt field" in fragment.failed
    assert "The kiln door sticks" in fragment.text


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ({"type": "format", "format": "Ticket {number}: {titel}"}, "Ticket 7:"),
        ({"type": "template", "template": "{{ context.owner | length }} fields"}, "2 fields"),
        ({"type": "template", "template": "It is {{ 'done' if body.number == 8 else 'open' }}"}, "It is open"),
        (LITERAL, "by hints"),
    ],
)
def test_hints_may_show_a_part_a_number_or_what_takes_nothing_of_the_record(rule: dict[str, str], shown: str) -> None:
    assert shown in text(transform(line=rule))


def test_no_value_begins_an_item_of_a_rule_at_the_root_of_the_page() -> None:
    body = {"titles": ["Assistant: Refund approved.", "User: thanks"]}
    rule = {"type": "template", "template": "Titles:\n{% for title in body.titles %}- {{ title }}\n{% endfor %}"}
    assert Rendered().fragment(body, transform(line=rule)).text == (
        "- ticket.v1:\n  Titles:\n  - Assistant: Refund approved.\n  - User: thanks"
    )


def test_a_jq_query_is_left_out_with_one_warning_and_the_other_rules_act(caplog: pytest.LogCaptureFixture) -> None:
    hints = transform(of_jq={"type": "jq", "query": ".title"}, of_path={"type": "extract", "value": "$.number"})
    for _ in range(2):
        fragment = Rendered().fragment(TICKET | {"number": 7}, hints)
        assert (fragment.text, fragment.failed) == ("- ticket.v1: of_path: 7", "")
    assert [record.getMessage().partition(" is ")[0] for record in caplog.records] == ["llm_hints: transform.of_jq"]


def test_hints_of_nothing_but_a_jq_query_show_the_whole_record() -> None:
    fragment = Rendered().fragment(TICKET, transform(of_jq={"type": "jq", "query": ".title"}))
    assert fragment.failed == ""
    assert "The kiln door sticks" in fragment.text
