"""The only wiring: the rest of the tree is passed what it needs; only this package knows who provides it.

Names are imported at their first use, so that a command brings in no more than it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from builder.app.operations.costs import costs
    from builder.app.operations.export import Export, StreamContent, export_session, stream_content
    from builder.app.operations.imports import Import, import_file
    from builder.app.operations.lint import ProfileCatalog, lint_folders, open_catalog
    from builder.app.operations.maintenance import (
        answer_from_store,
        clear_dead_letters,
        compare_store,
        purge_store,
        read_breadcrumb,
        read_dead_letters,
        rebuild_store,
    )
    from builder.app.operations.prices import PriceList, load_prices
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
    "check_broker",
    "clear_dead_letters",
    "client_options",
    "compact_session",
    "compare_store",
    "costs",
    "counter",
    "encoder",
    "export_session",
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
    "open_reference",
    "open_service",
    "prepare_model",
    "purge_store",
    "read_breadcrumb",
    "read_dead_letters",
    "read_traffic",
    "rebuild_store",
    "running",
    "serve",
    "serving",
    "stream_content",
    "summarise",
    "unsettled",
]


_PLACES = {
    "builder.adapters.http.server": ("serve",),
    "builder.app.address": (
        "Address",
        "Listening",
        "announcement",
        "broker_address",
        "running",
    ),
    "builder.app.broker": (
        "check_broker",
        "client_options",
        "open_bus",
    ),
    "builder.app.components": (
        "Components",
        "counter",
        "encoder",
        "models",
        "open_components",
        "open_encoder",
        "open_reference",
        "prepare_model",
    ),
    "builder.app.operations.costs": ("costs",),
    "builder.app.operations.export": (
        "Export",
        "StreamContent",
        "export_session",
        "stream_content",
    ),
    "builder.app.operations.imports": (
        "Import",
        "import_file",
    ),
    "builder.app.operations.lint": (
        "ProfileCatalog",
        "lint_folders",
        "open_catalog",
    ),
    "builder.app.operations.maintenance": (
        "answer_from_store",
        "clear_dead_letters",
        "compare_store",
        "purge_store",
        "read_breadcrumb",
        "read_dead_letters",
        "rebuild_store",
    ),
    "builder.app.operations.prices": (
        "PriceList",
        "load_prices",
    ),
    "builder.app.operations.summaries": (
        "compact_session",
        "summarise",
    ),
    "builder.app.operations.traffic": ("read_traffic",),
    "builder.app.parts": (
        "PARTS",
        "Parts",
    ),
    "builder.app.peers": ("list_workers",),
    "builder.app.service": (
        "Service",
        "open_service",
        "serving",
        "unsettled",
    ),
    "builder.app.stores": (
        "IN_MEMORY",
        "STORES",
        "locate_store",
        "location",
    ),
}
"""Module → the names that are taken from it; `tests/architecture/test_app_names.py` compares them with the imports above."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Raises `AttributeError` for a name that is not of this package."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)
