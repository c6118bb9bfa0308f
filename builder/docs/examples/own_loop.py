"""A loop of your own: it refreshes each page before it answers, and ends when somebody says goodbye."""

from builder.client import connect


async def answer_all(servers: str = "nats://127.0.0.1:4222") -> int:
    """How many contexts were answered, up to the one whose question says goodbye."""
    number = 0
    async with connect(servers) as client, client.subscribed("default", skip_superseded=True) as contexts:
        async for context in contexts:
            page = await client.refresh(context)
            if not page.is_over:
                number += 1
                await client.send_response(page, f"I read {page.token_count} tokens.")
                if "goodbye" in page.content.lower():
                    break
    return number
