"""A message, the steps of the agent and its answer, e.g. in a web server."""

from builder.client.sync import connect


def talk(session: str, text: str, servers: str = "nats://127.0.0.1:4222") -> list[str]:
    """The tools that the agent calls, and what it says in the end."""
    with connect(servers) as client:
        steps = list(client.answer(session, text, consumer="weather-agent"))
    return [*(call["tool"] for step in steps for call in step.tool_requests), steps[-1].message]
