"""A message and its context in one call, e.g. in a web server."""

import asyncio

from builder.client import Rejected, Unavailable, connect


async def answer(session: str, text: str, servers: str = "nats://127.0.0.1:4222") -> str:
    """What the model says to a user's message."""
    try:
        async with connect(servers) as client:
            context = await client.ask(session, text, consumer="default", timeout=10)
            words = f"I read {context.token_count} tokens."  # your model gets context.content
            await client.send_response(context, words)
            return words
    except Rejected as error:  # the message, or the consumer: mend it
        return f"That cannot be sent: {error}"
    except Unavailable as error:  # no broker, no service, or too late: try again
        return f"Nobody could prepare an answer: {error}"


if __name__ == "__main__":
    print(asyncio.run(answer("maya@example.com", "Where does the API key go?")))
