"""Messages as OpenAI's chat completions take them."""

from builder.domain.context import Call, Exchange, Image, Message, MessagePart
from builder.publish.chat import openai

EXCHANGE = Exchange(call=Call(id="r1", tool="add", arguments='{"a":1}'), results=("1", "2"), ids=("m2",), failed=False)


def test_all_system_messages_are_one_in_front() -> None:
    system = [Message(role="system", parts=(MessagePart(text),), ids=()) for text in ("Be brief.", "Be kind.")]
    user = Message(role="user", parts=(MessagePart("Hi."),), ids=("m1",))
    assert [(message.role, message.content) for message in openai((system[0], user, system[1]))] == [
        ("system", "Be brief.\n\nBe kind."),
        ("user", "Hi."),
    ]


def test_each_call_is_followed_by_its_results_as_one_text() -> None:
    calls, result = openai((Message(role="assistant", parts=(), ids=("m1",), exchanges=(EXCHANGE,)),))
    assert (calls.content, calls.tool_calls and calls.tool_calls[0].function.arguments) == (None, '{"a":1}')
    assert '"content":null' in calls.model_dump_json(exclude_none=True)
    assert (result.role, result.content, result.tool_call_id) == ("tool", "1\n2", "r1")


def test_pictures_of_the_user_are_parts_in_front_of_the_text_and_others_are_left_to_their_lines() -> None:
    image = Image(media="image/png", data="QUJD")
    user, assistant = openai(
        tuple(Message(role=role, parts=(MessagePart("See."),), ids=("m1",), images=(image,)) for role in ("user", "assistant"))
    )
    assert [part["type"] for part in user.model_dump()["content"]] == ["image_url", "text"]
    assert assistant.content == "See."
