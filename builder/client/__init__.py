"""What an agent imports: subscribe to contexts, send what was said. Needs nats-py and pydantic, nothing of the service.

    async with connect("nats://127.0.0.1:4222") as client:
        async for context in client.contexts("default"):
            answer = await my_model(context.content)
            await client.send_response(context, answer)
"""

from builder.client.client import Client, connect
from builder.client.received import ReceivedContext
from builder.domain.errors import BuilderError, Rejected, Unavailable

__all__ = ["BuilderError", "Client", "ReceivedContext", "Rejected", "Unavailable", "connect"]
