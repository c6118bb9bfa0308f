"""LlamaIndex's own agent and chat engine over the service.

Its model's answers come from the endpoint, by the package of OpenAI: LlamaIndex's own does not install beside openai 3.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, CitableBlock, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from openai import OpenAI

from builder.client.sync import SyncClient
from builder.integrations.llama_index import BuilderMemory
from tests.chat_endpoint import ChatEndpoint
from tests.frameworks.page import BUDGET, LONG_TALK, check_docs, example
from tests.frameworks.talk import ANSWER, ASKED, TOLD, TURN_WITH_TOOLS, WEATHER, check_page, schemas, weather, words_of
from tests.running import Running

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex's workflows look at all attributes of a model


def model(chat: ChatEndpoint) -> MockFunctionCallingLLM:
    """It sends each request to the endpoint."""

    def generate(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        with OpenAI(base_url=chat.base_url, api_key="k") as provider:
            completion = provider.chat.completions.create(model="m", messages=list(map(sent, messages)))
        said = completion.choices[0].message.model_dump()
        calls = [
            ToolCallBlock(tool_call_id=call["id"], tool_name=call["function"]["name"], tool_kwargs=json.loads(arguments))
            for call in said["tool_calls"] or ()
            if (arguments := call["function"]["arguments"])
        ]
        return ChatMessage(role="assistant", blocks=[TextBlock(text=said["content"] or ""), *calls])

    return MockFunctionCallingLLM(response_generator=generate, is_chat_model=True)


def sent(message: ChatMessage) -> Any:
    """As LlamaIndex's package for OpenAI writes it."""
    calls = [
        {
            "id": block.tool_call_id,
            "type": "function",
            "function": {"name": block.tool_name, "arguments": text(block.tool_kwargs)},
        }
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    names = {"tool_call_id": message.additional_kwargs["tool_call_id"]} if message.role == "tool" else {}
    return {"role": message.role.value, "content": message.content, **names} | ({"tool_calls": calls} if calls else {})


def text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


async def say(chat: ChatEndpoint, memory: BaseMemory, words: str, *, streamed: bool = False) -> str:
    agent = FunctionAgent(llm=model(chat), tools=[weather], streaming=streamed)
    return str(await agent.run(user_msg=words, memory=memory))


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_agent_reads_the_page_and_a_new_process_goes_on(
    chat: ChatEndpoint, client: SyncClient, service: Running, *, streamed: bool
) -> None:
    name = f"li {streamed}"
    memory = BuilderMemory(client, name, user_id="ann")
    assert [await say(chat, memory, words, streamed=streamed) for words in (TOLD, WEATHER)] == ["Noted.", "Lima is warmer."]
    check_page(chat.requests[-1], WEATHER)
    assert schemas(client, name) == ["user.message", "agent.response", *TURN_WITH_TOOLS]
    service.stop()
    service.start()
    assert await say(chat, BuilderMemory.from_defaults(client=client, session=name), ASKED, streamed=streamed) == ANSWER
    check_page(chat.requests[-1], ASKED)
    assert [message["role"] for message in chat.requests[-1]][-2:] == ["assistant", "user"]
    assert await say(chat, BuilderMemory(client, f"{name} of ben"), ASKED, streamed=streamed) == "I do not know."


def test_a_chat_engine_reads_the_page(chat: ChatEndpoint, client: SyncClient) -> None:
    engine = SimpleChatEngine.from_defaults(llm=model(chat), memory=BuilderMemory(client, "li engine"), system_prompt="Be kind.")
    assert [str(engine.chat(words)) for words in (TOLD, ASKED)] == ["Noted.", ANSWER]
    check_page(chat.requests[-1][1:], ASKED)
    assert [words_of(message["content"]) for message in chat.requests[-1]] == ["Be kind.", TOLD, "Noted.", ASKED]
    engine.reset()
    assert str(engine.chat(ASKED)) == "I do not know."


async def test_get_all_and_set_are_those_of_llama_index(chat: ChatEndpoint, client: SyncClient) -> None:
    mine, theirs = BuilderMemory(client, "li all"), ChatMemoryBuffer.from_defaults(token_limit=4000)
    for memory in (mine, theirs):
        await say(chat, memory, WEATHER)
    assert [plain(each) for each in mine.get_all()] == [plain(each) for each in theirs.get_all()]
    history = [*mine.get_all()[:2], *mine.get_all()[2:4], ChatMessage(role="assistant", content="Neither.")]
    kept = [record.id for record in client.history("li all")][:4]
    mine.set(history)
    assert [plain(each) for each in mine.get_all()] == [plain(each) for each in history]
    assert [record.id for record in client.history("li all")][:4] == kept
    mine.set([])
    assert mine.get() == []


@pytest.mark.parametrize("url", ["https://example.org/kiln.png", "data:image/png;base64,iVBORw0KGgo="])
def test_an_image_is_kept_with_its_question(client: SyncClient, url: str) -> None:
    memory = BuilderMemory(client, f"li image {url[:5]}")
    memory.put(ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), ImageBlock(url=url)]))
    (message,) = memory.get_all()
    assert [block.block_type for block in message.blocks] == ["text", "image"]


def plain(message: ChatMessage) -> tuple[Any, ...]:
    """What a message says, without the model's ids."""
    calls = [(block.tool_name, text(block.tool_kwargs)) for block in message.blocks if isinstance(block, ToolCallBlock)]
    return message.role, message.content or "", calls


async def test_the_page_shows_what_the_model_reads(chat: ChatEndpoint, client: SyncClient) -> None:
    for memory in (ChatMemoryBuffer.from_defaults(token_limit=BUDGET), BuilderMemory(client, "li long")):
        memory.put_messages([ChatMessage(role=each["role"], content=each["content"]) for each in LONG_TALK])
        await say(chat, memory, ASKED)
    check_docs("llama-index", *chat.requests)


async def test_the_example_answers(chat: ChatEndpoint, client: SyncClient) -> None:
    answer = example("llama_memory.py")["answer"]
    assert [
        await answer(FunctionAgent(llm=model(chat), tools=[weather], streaming=False), words, client, "li example")
        for words in (TOLD, ASKED)
    ] == ["Noted.", ANSWER]


def test_roles_calls_of_older_models_and_blocks_of_every_kind_are_stored(client: SyncClient) -> None:
    memory = BuilderMemory(client, "li forms")
    function = {"name": "weigh", "arguments": '{"of": "mug"}'}
    calls = [{"id": "c1", "type": "function", "function": function}]
    source = CitableBlock(title="Log", source="kb", content=[TextBlock(text="Cone six.")])
    messages = [
        ChatMessage(role="developer", content="Be brief."),
        ChatMessage(role="user", blocks=[TextBlock(text="Weigh it."), source]),
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls}),
        ChatMessage(role="tool", content="12 kg", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="function", content="31 cm", additional_kwargs={"name": "measure"}),
        ChatMessage(role="model", blocks=[ThinkingBlock(content="Heavy."), TextBlock(text="12 "), TextBlock(text="kg.")]),
    ]
    for message in messages:
        memory.put(message)
    records = list(client.history("li forms"))
    assert [record.text for record in records] == [
        "Weigh it.\nLog\nkb\nCone six.", "", "weigh 12 kg", "measure 31 cm", "[thought] Heavy.\n12 kg.",
    ]  # fmt: skip
    assert records[1].body["tool_requests"][0]["input"] == {"of": "mug"}
    assert memory.get_all()[0].blocks == messages[1].blocks
