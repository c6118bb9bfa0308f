"""Every implementation fits its port: the type checker reads these assignments, pytest only imports them."""

from typing import Protocol

import pytest

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.embedding.engine import Engine, NoEmbedder
from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher, NatsSender
from builder.adapters.nats.stream import NatsArchive, NatsStream
from builder.adapters.sql.store import SqlStore
from builder.adapters.sqlite import SqliteLocation, SqliteStore
from builder.adapters.templates.fragments import JinjaRendering
from builder.assemble.items.rendering import Rendering
from builder.extras.endpoints.engine import EndpointEmbedder
from builder.extras.postgres.location import PostgresLocation
from builder.extras.sentence_transformers.prepare import ReferenceEmbedder
from builder.ports import archive, contexts, models, store, stream
from builder.ports.archive import Archive
from builder.ports.contexts import PublishedContexts, Publisher
from builder.ports.models import Embedder, Summarizer
from builder.ports.store import CompleteStore, StoreLocation
from builder.ports.stream import Delivery, Sender, Stream


def test_every_adapter_is_assigned_to_its_port() -> None:
    from builder.extras.endpoints.summarizer import EndpointSummarizer  # noqa: PLC0415 - imports openai, a second

    stores: list[type[CompleteStore]] = [SqliteStore, SqlStore]
    locations: list[type[StoreLocation]] = [PostgresLocation, SqliteLocation]
    deletes: type[Archive] = NatsArchive
    published: type[PublishedContexts] = NatsArchive
    sender: type[Sender] = NatsSender
    embedders: list[type[Embedder]] = [CachedEmbedder]
    engines: list[type[Engine]] = [EndpointEmbedder, NoEmbedder, OnnxEmbedder, ReferenceEmbedder]
    publisher: type[Publisher] = NatsPublisher
    reads: type[Stream] = NatsStream
    delivery: type[Delivery] = NatsDelivery
    rendering: type[Rendering] = JinjaRendering
    summarizer: type[Summarizer] = EndpointSummarizer
    assert all(
        [stores, locations, deletes, published, sender, embedders, engines, publisher, reads, delivery, rendering, summarizer]
    )


MODULES = (archive, contexts, models, store, stream)
PORTS = [port for module in MODULES for port in vars(module).values() if getattr(port, "_is_protocol", False)]


@pytest.mark.parametrize("port", [port for port in PORTS if port is not Protocol], ids=lambda port: port.__name__)
def test_a_port_has_at_most_five_methods(port: type) -> None:
    assert len([name for name in vars(port) if not name.startswith("_")]) <= 5
