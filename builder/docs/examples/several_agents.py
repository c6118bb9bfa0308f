"""Planner, coder and critic write to each other in one session; the planner answers the user."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

from builder.client import Client, ReceivedContext

ON_MESSAGES = {"extends": "default", "triggers": ["user.message.v1", "agent.response.v1"], "recursion_limit": 12}
PROFILES = {name: {**ON_MESSAGES, "audience": {"agents": [name]}} for name in ("planner", "coder", "critic")}
"""Each is a file of the service: templates/profiles/planner.yaml, coder.yaml and critic.yaml."""


def planner(page: str) -> tuple[str, str]:
    """Whom it writes to ("" = everybody), and what. Your model is here and gets the page."""
    return ("", "mean is written and reviewed.") if "Approved." in page else ("coder", "Write mean(numbers).")


def coder(page: str) -> tuple[str, str]:
    """It writes to the critic."""
    return "critic", "return sum(numbers) / len(numbers)" + (" if numbers else None" if "empty" in page else "")


def critic(page: str) -> tuple[str, str]:
    """It writes to the coder until the code is right."""
    return ("planner", "Approved.") if "if numbers else" in page else ("coder", "It fails for an empty list.")


MODELS: dict[str, Callable[[str], tuple[str, str]]] = {"planner": planner, "coder": coder, "critic": critic}


async def serve(client: Client, name: str, contexts: AsyncIterator[ReceivedContext]) -> str:
    """Write to other agents until there is an answer for everybody."""
    model = MODELS[name]
    async for context in contexts:
        to, text = model(context.content)
        await client.send_response(context, text, speaker=name.capitalize(), to=[to] if to else [])
        if not to:
            return text
    return ""


async def answer(client: Client, session: str, task: str) -> str:
    """What the planner says in the end. The message is for the planner alone, so no other agent answers it."""
    async with AsyncExitStack() as stack:
        contexts = {name: await stack.enter_async_context(client.subscribed(name)) for name in MODELS}
        await client.send_user_message(session, task, speaker="Maya", to="planner")
        agents = [asyncio.create_task(serve(client, name, contexts[name])) for name in MODELS]
        done, waiting = await asyncio.wait(agents, return_when=asyncio.FIRST_COMPLETED)
        for agent in waiting:
            agent.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return done.pop().result()
