"""The shared store: a schema of a PostgreSQL database with pgvector."""

from builder.domain.errors import Misconfigured, installation
from builder.extra import Extra
from builder.ports.store import StoreLocation


def _location(url: str) -> StoreLocation:
    try:
        from builder.extras.postgres.location import PostgresLocation  # its driver is loaded where it is configured
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"a store in PostgreSQL needs the package {error.name}; {installation('service,postgresql')}"
        ) from error
    return PostgresLocation(url)


extra = Extra(stores={"postgresql": _location})
