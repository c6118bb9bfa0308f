"""The OpenAI Agents SDK with our session in place of `SQLiteSession`."""

from agents import Agent, RunConfig, Runner

from builder.client.sync import SyncClient
from builder.integrations.openai_agents import BuilderSession


async def answer(agent: Agent, text: str, client: SyncClient, session_id: str = "s42") -> str:
    """With the filter each call of the model reads the page of its input; without it the session gives the conversation."""
    session = BuilderSession(session_id, client, user_id="ann")
    configuration = RunConfig(call_model_input_filter=session.page, tracing_disabled=True)
    return str((await Runner.run(agent, text, session=session, run_config=configuration)).final_output)
