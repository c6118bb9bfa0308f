"""A LlamaIndex agent with our memory in place of its own."""

from llama_index.core.agent.workflow import FunctionAgent

from builder.client.sync import SyncClient
from builder.integrations.llama_index import BuilderMemory


async def answer(agent: FunctionAgent, text: str, client: SyncClient, session: str = "s42") -> str:
    """One turn. Chat engines take the memory, too."""
    return str(await agent.run(user_msg=text, memory=BuilderMemory(client, session, user_id="ann")))
