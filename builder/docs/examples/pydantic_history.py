"""A Pydantic AI agent whose model reads the page; a run needs no `message_history`."""

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models import Model

from builder.client.sync import SyncClient
from builder.integrations.pydantic_ai import PageHistory


async def answer(
    model: Model, tools: list[Callable[..., Any]], text: str, client: SyncClient, session: str = "s42", user: str = "ann"
) -> str:
    """One turn; `run_sync` works as well."""
    agent = Agent(model, tools=tools, capabilities=[PageHistory(client)])
    return (await agent.run(text, conversation_id=session, metadata={"user_id": user})).output
