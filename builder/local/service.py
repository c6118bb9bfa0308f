"""The service of a folder with its own broker, both in the loop that runs this."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from builder.app.address import announcement, claim
from builder.app.console import settings as environment
from builder.app.service import open_service, serving
from builder.app.settings import HttpSettings, NatsSettings, Settings, StoreSettings
from builder.connection.names import DEFAULT_NAME

TEMPLATES = "templates"


def folder_settings(folder: Path) -> Settings:
    """Those of the environment, for a service that nobody else's settings reach. Raises `Misconfigured`."""
    own, folder = environment(), folder.expanduser().resolve()
    changes = {
        "name": DEFAULT_NAME,
        "data_dir": folder,
        "nats": NatsSettings(port=-1),
        "store": StoreSettings(cached_passages=own.store.cached_passages),
        "http": HttpSettings(port=0),
    }
    if (folder / TEMPLATES).is_dir():
        changes["templates_dir"] = folder / TEMPLATES
    return own.model_copy(update=changes)


@asynccontextmanager
async def running_service(settings: Settings) -> AsyncIterator[str]:
    """URL of its broker. Commands with the folder in CONTEXT_BUILDER_DATA_DIR find it. Raises `Misconfigured`."""
    with claim(settings):
        async with open_service(settings) as service, serving(service) as port:
            with announcement(settings, service.url, port):
                yield service.url
