"""The only wiring: the rest of the tree is passed what it needs; only this package knows who provides it."""

from builder.adapters.http.server import serve
from builder.app.address import Address, Listening, announcement, broker_address, running
from builder.app.broker import check_broker, client_options, open_bus
from builder.app.components import Components, counter, encoder, models, open_core, open_encoder, open_reference, prepare_model
from builder.app.operations.export import Export, export_session
from builder.app.operations.imports import Import, import_file
from builder.app.operations.lint import ProfileCatalog, open_catalog
from builder.app.operations.maintenance import (
    answer_from_store,
    clear_dead_letters,
    purge_store,
    read_breadcrumb,
    read_dead_letters,
    rebuild_store,
)
from builder.app.operations.summaries import compact_session, summarise
from builder.app.service import Service, open_service, serving, unsettled

__all__ = [
    "Address",
    "Components",
    "Export",
    "Import",
    "Listening",
    "ProfileCatalog",
    "Service",
    "announcement",
    "answer_from_store",
    "broker_address",
    "check_broker",
    "clear_dead_letters",
    "client_options",
    "compact_session",
    "counter",
    "encoder",
    "export_session",
    "import_file",
    "models",
    "open_bus",
    "open_catalog",
    "open_core",
    "open_encoder",
    "open_reference",
    "open_service",
    "prepare_model",
    "purge_store",
    "read_breadcrumb",
    "read_dead_letters",
    "rebuild_store",
    "running",
    "serve",
    "serving",
    "summarise",
    "unsettled",
]
