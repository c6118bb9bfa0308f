"""Models by the packages of OpenAI, Anthropic and LangChain: what they take and what they reply is used as it is."""

from anthropic import AsyncAnthropic
from anthropic.types import Message
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from builder.client import ReceivedContext, fetch_omitted_tool

MODEL = "gpt-4.1-mini"


async def openai_reply(model: AsyncOpenAI, context: ReceivedContext) -> ChatCompletion:
    """The profile has `chat_format: openai`."""
    tools = [fetch_omitted_tool("openai")]
    return await model.chat.completions.create(model=MODEL, messages=context.messages, tools=tools)


async def responses_reply(model: AsyncOpenAI, context: ReceivedContext) -> Response:
    """The profile has `chat_format: responses`."""
    tools = [fetch_omitted_tool("responses")]
    return await model.responses.create(model=MODEL, input=context.messages, tools=tools)


async def anthropic_reply(model: AsyncAnthropic, context: ReceivedContext) -> Message:
    """The profile has `chat_format: anthropic`."""
    tools = [fetch_omitted_tool("anthropic")]
    return await model.messages.create(
        model="claude-sonnet-5-5", max_tokens=1024, system=context.system, messages=context.messages, tools=tools
    )


async def langchain_reply(model: Runnable[LanguageModelInput, AIMessage], context: ReceivedContext) -> AIMessage:
    """The profile has `chat_format: openai`; the model is one of LangChain, with its tools bound."""
    return await model.ainvoke(context.messages)
