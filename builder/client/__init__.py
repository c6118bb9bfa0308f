"""The client of agents: contexts and messages. Needs nats-py and pydantic, nothing of the service.

The loop of an agent: `async with connect(url) as client: await client.serve("my-agent", reply)`, where `reply` gets a context and
returns what the model says. With `chat_format: anthropic` in the consumer's profile there is nothing to build:

    async def reply(context: ReceivedContext) -> object:
        return await anthropic.messages.create(
            model=MODEL, max_tokens=1024, system=context.system, messages=context.messages, tools=SCHEMAS
        )

    async with connect(url) as client:
        await client.serve("my-agent", reply, tools={"weather": weather})

With `chat_format: openai` it is `openai.chat.completions.create(model=MODEL, messages=context.messages, tools=SCHEMAS)`, with
`responses` it is `openai.responses.create(model=MODEL, input=context.messages, tools=SCHEMAS)`.
`text = await client.answer(session, text)` is a message and what the agent says to it in the end, `context = await
client.ask(session, text)` a message and its context. `builder.client.sync` is the same without
`await`, `builder.testing` the same without NATS.
"""

from builder.client.asking import AnswerSteps
from builder.client.client import Client, connect
from builder.client.omissions import Omission
from builder.client.omitted import fetch_omitted_tool
from builder.client.receipts import PersonReceipt, SessionReceipt
from builder.client.received import ReceivedContext
from builder.client.replying import Answer
from builder.client.sending import PublishResult
from builder.domain.erasure import Receipt
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.domain.summary import CompactionResult
from builder.wire.breadcrumb_records import BreadcrumbRecord, SearchResult, SessionEnd
from builder.wire.consumers import Consumer
from builder.wire.responses import Response

__all__ = [
    "Answer",
    "AnswerSteps",
    "BreadcrumbRecord",
    "BuilderError",
    "Client",
    "CompactionResult",
    "Consumer",
    "Omission",
    "PersonReceipt",
    "PublishResult",
    "Receipt",
    "ReceivedContext",
    "Rejected",
    "Response",
    "SearchResult",
    "SessionEnd",
    "SessionReceipt",
    "Unavailable",
    "connect",
    "fetch_omitted_tool",
]
