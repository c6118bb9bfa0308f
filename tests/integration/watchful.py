"""The real service, whose watchdog looks ten times a second. Settings come from the environment, as for `context-builder up`."""

import asyncio

from builder.app.components import Parts
from builder.app.settings import Settings
from builder.cli.serve import serve_until_signal

if __name__ == "__main__":
    asyncio.run(serve_until_signal(Settings(), Parts(watch_seconds=0.1)))
