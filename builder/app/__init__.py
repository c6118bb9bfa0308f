"""The only wiring: the rest of the tree is passed what it needs; only this package knows who provides it."""

from builder.adapters.http.server import serve
from builder.app.bus import check_broker, connection_arguments, open_bus
from builder.app.core import Core, counter, models, open_core, open_encoder, open_reference, prepare_model
from builder.app.maintenance import read_breadcrumb, read_dead_letters, rebuild_store
from builder.app.service import Service, open_service, serving, unsettled
from builder.app.summaries import compact_session, summarise

__all__ = [
    "Core",
    "Service",
    "check_broker",
    "compact_session",
    "connection_arguments",
    "counter",
    "models",
    "open_bus",
    "open_core",
    "open_encoder",
    "open_reference",
    "open_service",
    "prepare_model",
    "read_breadcrumb",
    "read_dead_letters",
    "rebuild_store",
    "serve",
    "serving",
    "summarise",
    "unsettled",
]
