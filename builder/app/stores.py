"""Stores by URL: the one place that knows which stores there are."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from builder.adapters.sqlite import SqliteLocation
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.ports.store import StoreLocation

StoreSchemes = Mapping[str, Callable[[str], StoreLocation]]
"""Scheme → the location that a URL of this scheme names."""

STORES: StoreSchemes = MappingProxyType({"sqlite": SqliteLocation.from_url})
"""Every store that is shipped; a new one is one line here."""
IN_MEMORY = "sqlite::memory:"
"""A store that lives as long as it is open."""
FILE = "store.sqlite3"
"""Name of the default store in the data folder."""


def locate_store(settings: Settings, schemes: StoreSchemes = STORES) -> StoreLocation:
    """The configured store. Raises `Misconfigured`."""
    return location(settings.store.url or f"sqlite:{settings.data_dir / FILE}", schemes)


def location(url: str, schemes: StoreSchemes = STORES) -> StoreLocation:
    """The store that the URL names. Raises `Misconfigured` with the known schemes."""
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in schemes:
        choices = ", ".join(f"{name}:" for name in sorted(schemes))
        start = f"begins with {scheme!r}" if colon else "has no scheme"
        raise Misconfigured(f"CONTEXT_BUILDER_STORE__URL {start}; the schemes are {choices} as in sqlite:PATH")
    return schemes[scheme](url)
