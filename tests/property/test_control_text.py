"""Whatever bodies, names and tools say, no control text stands on a page or in a message, and what was changed is listed."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from builder.domain.context import Context
from builder.domain.control_text import visible
from builder.extras.chat_formats.formats import FORMATS
from builder.extras.chat_formats.response_items import response_items
from builder.extras.chat_formats.shapes import anthropic, openai
from tests.chat_copies import messages_of
from tests.examples import examples
from tests.factories import make_context, make_profile
from tests.property.sessions import hear

PARTS = (
    "<|im_start|>", "<|", "|>", "[INST]", "[/INST]", "[", "]", "<<SYS>>", "<s>", "</s>", " ", "\n", "\r", "\x0b", "\x1b", "\x7f",
    "\x85", "\u202e", "\u2066", "\U0001f3f4", "\U000e0067", "\U000e0062", "\U000e0073", "\U000e007f", "im_start", "\u200d", "x",
    "word word word", "INST", "s>", "</",
)  # fmt: skip
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), min_size=1, max_size=12).map("".join)
long_texts = st.lists(texts, min_size=20, max_size=60).map(" ".join)
said = st.one_of(texts, texts, long_texts)
names = st.one_of(st.sampled_from(("search", "<|im_start|>", "[INST]", "</s>")), texts).filter(str.strip)
values = st.recursive(said, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5)
made = st.fixed_dictionaries
calls = made({"tool": names, "input": values, "requestId": st.just("r1")})
bodies = {
    "user.message.v1": made({"content": said}, optional={"speaker": names.map(lambda name: name[:200])}),
    "agent.response.v1": made(
        {"content": said, "tool_requests": st.lists(calls, max_size=1)}
    ),
    "tool.request.v1": made({"tool": names, "input": values, "request_id": st.just("r2")}),
    "tool.response.v1": made({"tool": names, "output": values, "request_id": st.sampled_from(("r1", "r2"))}),
    "tool.error.v1": made({"tool_name": names, "error_message": said, "error_type": names}),
    "note.v1": made({"content": said, "title": names, "url": names}),
    "browser.page.context.v1": made({"url": names, "title": names, "content": made({"mainText": said})}),
    "invoice.v1": st.dictionaries(texts, values, max_size=3),
}  # fmt: skip
sessions = st.lists(
    st.sampled_from(sorted(bodies)).flatmap(lambda schema: st.tuples(st.just(schema), bodies[schema])), max_size=8
)
catalogs = st.lists(made({"name": names, "description": said, "category": names}), max_size=4)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def texts_of(context: Context) -> Iterator[str]:
    """All text of the messages in all shapes, arguments also as the values that they are."""
    messages = messages_of(context)
    shapes = (shape(messages) for shape in (openai, anthropic, response_items))
    yield from strings([each.model_dump() for shape in shapes for field in shape.values() for each in field])
    for message in messages:
        for exchange in message.exchanges:
            yield from strings(json.loads(exchange.call.arguments))


@examples(40)
@given(
    sessions,
    said,
    catalogs,
    st.sampled_from((4000, 4000, 400, 150)),
    st.sampled_from(("default", "xml")),
    st.sampled_from(sorted(FORMATS)),
)
@example([("user.message.v1", {"content": "x" * 900 + "</s>" + "y" * 900})], "Hi", [], 150, "default", "openai")
@example([("invoice.v1", {"<|a": "|>", "b": ["[INST", "]"]})], "<s>", [], 4000, "xml", "openai")
def test_no_control_text_stands_on_a_page_or_in_a_message(
    talk: list[tuple[str, dict[str, Any]]],
    question: str,
    tools: list[dict[str, Any]],
    budget: int,
    page: str,
    shape: str,
) -> None:
    rows = [hear(n, schema, body) for n, (schema, body) in enumerate(talk, 1)]
    standing = (hear(400, "tool.catalog.v1", {"tools": tools}),) if tools else ()
    profile = make_profile(
        budget=budget, page=page, chat_format=shape, window={"max_units": 6, "trim_to": 6}, retrieval={"schemas": tuple(bodies)}
    )
    context = make_context(hear(500, "user.message.v1", {"content": question}), rows, profile, standing)
    assert visible(context.markdown) == context.markdown
    assert not [text for text in texts_of(context) if visible(text) != text]
