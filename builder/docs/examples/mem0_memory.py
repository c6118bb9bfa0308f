"""mem0's verbs: `from mem0 import Memory` becomes the second import below."""

from builder.client.sync import connect
from builder.integrations.mem0 import Memory


def remembered(user: str, text: str, question: str, servers: str = "nats://127.0.0.1:4222") -> list[str]:
    """What is found for a user's question, the most probable first."""
    with connect(servers) as client:
        memory = Memory(client)
        memory.add([{"role": "user", "content": text}], user_id=user)
        return [item["memory"] for item in memory.search(question, filters={"user_id": user})["results"]]
