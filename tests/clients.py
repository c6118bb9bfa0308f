"""What the contract suite of clients shares: profiles of the service, and reading what is remembered."""

from builder.client import BreadcrumbRecord, Client
from tests.running import until

PROFILES = {
    "claude": '{"extends": "default", "chat_format": "anthropic", "triggers": ["user.message.v1", "tool.response.v1"]}',
    "critic": '{"extends": "default", "budget": 300}',
    "loop": '{"extends": "default", "chat_format": "openai", "triggers": ["user.message.v1", "tool.response.v1"]}',
    "patient": "extends: default\ndebounce: 0.3\n",
    "friend": "extends: default\nretrieval: {scope: user}\n",
    "responding": '{"extends": "default", "chat_format": "responses", "triggers": ["user.message.v1", "tool.response.v1"]}',
    "silent": '{"extends": "default", "triggers": []}',
    "watch": '{"extends": "default", "chat_format": "openai", "triggers": ["note.v1", "tool.response.v1"]}',
    "urgent": '{"extends": "default", "audience": {"any_tags": ["urgent"]}}',
}


async def history(client: Client, session: str, count: int) -> list[BreadcrumbRecord]:
    """The session once so many are remembered."""
    records: list[BreadcrumbRecord] = []

    async def are_there() -> bool:
        records[:] = [record async for record in client.history(session)]
        return len(records) >= count

    await until(are_there, f"{count} breadcrumbs in {session}")
    return records
