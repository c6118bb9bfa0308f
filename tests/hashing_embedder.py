"""An engine without a model: equal texts have equal vectors."""

from builder.domain.errors import Unavailable
from tests.factories import MODEL, make_vector


class HashingEmbedder:
    """`Embedder` by `make_vector`. asked: how often it was asked. away: whether it is unavailable."""

    model = MODEL
    batch = 1

    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    async def embed(self, text: str, input_type: str = "", *, is_query: bool = False) -> bytes:  # noqa: ARG002
        self.asked += 1
        if self.away:
            raise Unavailable("the engine is away")
        return make_vector(text)
