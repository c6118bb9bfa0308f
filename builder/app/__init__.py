"""The only wiring: the rest of the tree is passed what it needs; only this package knows who provides it."""

from builder.adapters.http.server import serve
from builder.app.address import Address, Listening, announcement, broker_address, running
from builder.app.broker import check_broker, client_options, open_bus
from builder.app.components import (
    Components,
    counter,
    encoder,
    models,
    open_components,
    open_encoder,
    open_reference,
    prepare_model,
)
from builder.app.config import bundled_files, file_stamps, read_templates
from builder.app.operations.costs import costs
from builder.app.operations.export import Export, StreamContent, export_session, stream_content
from builder.app.operations.fixtures import Fixture, open_fixture
from builder.app.operations.hint_conversion import convert_hints, read_files, write_hints
from builder.app.operations.imports import Import, import_file
from builder.app.operations.lint import ProfileCatalog, lint_folders, open_catalog
from builder.app.operations.maintenance import (
    clear_dead_letters,
    compare_store,
    purge_store,
    read_breadcrumb,
    read_dead_letters,
    rebuild_store,
)
from builder.app.operations.prices import PriceList, load_prices
from builder.app.operations.shadows import read_differences, shadow_report
from builder.app.operations.store_answers import answer_from_store
from builder.app.operations.summaries import compact_session, summarise
from builder.app.operations.traffic import read_traffic
from builder.app.parts import PARTS, Parts
from builder.app.peers import list_workers
from builder.app.service import Service, open_service, serving, unsettled
from builder.app.stores import IN_MEMORY, STORES, locate_store, location

__all__ = [
    "IN_MEMORY",
    "PARTS",
    "STORES",
    "Address",
    "Components",
    "Export",
    "Fixture",
    "Import",
    "Listening",
    "Parts",
    "PriceList",
    "ProfileCatalog",
    "Service",
    "StreamContent",
    "announcement",
    "answer_from_store",
    "broker_address",
    "bundled_files",
    "check_broker",
    "clear_dead_letters",
    "client_options",
    "compact_session",
    "compare_store",
    "convert_hints",
    "costs",
    "counter",
    "encoder",
    "export_session",
    "file_stamps",
    "import_file",
    "lint_folders",
    "list_workers",
    "load_prices",
    "locate_store",
    "location",
    "models",
    "open_bus",
    "open_catalog",
    "open_components",
    "open_encoder",
    "open_fixture",
    "open_reference",
    "open_service",
    "prepare_model",
    "purge_store",
    "read_breadcrumb",
    "read_dead_letters",
    "read_differences",
    "read_files",
    "read_templates",
    "read_traffic",
    "rebuild_store",
    "running",
    "serve",
    "serving",
    "shadow_report",
    "stream_content",
    "summarise",
    "unsettled",
    "write_hints",
]
