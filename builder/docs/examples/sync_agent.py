"""An agent: it answers every message that comes for the consumer "default"."""

import contextlib

from builder.client.sync import connect

with contextlib.suppress(KeyboardInterrupt), connect("nats://127.0.0.1:4222") as client:
    client.serve("default", lambda context: f"I read {context.token_count} tokens.")  # your model gets context.content
