"""Every implementation fits its port: the type checker reads these assignments, pytest only imports them."""

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.embedding.none import NoEmbedder
from builder.adapters.embedding.onnx import OnnxEmbedder
from builder.adapters.embedding.reference import ReferenceEmbedder
from builder.adapters.memory import MemoryStore
from builder.adapters.nats.archive import NatsArchive
from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher, NatsSender
from builder.adapters.nats.stream import NatsStream
from builder.adapters.sqlite import SqliteStore
from builder.adapters.templates.fragments import JinjaRendering
from builder.assemble.items.layout import Rendering
from builder.ports.broker import Archive, Delivery, Published, Publisher, Sender, Stream
from builder.ports.models import Embedder
from builder.ports.store import BreadcrumbStore, Eraser, MissingVectors, PendingStubs, Progress, Reader, Store


def test_every_adapter_is_assigned_to_its_port() -> None:
    stores: list[type[BreadcrumbStore]] = [MemoryStore, SqliteStore]
    both: list[type[Store]] = [MemoryStore, SqliteStore]
    lookups: list[type[Reader]] = [MemoryStore, SqliteStore]
    erasers: list[type[Eraser]] = [MemoryStore, SqliteStore]
    debts: list[type[PendingStubs]] = [MemoryStore, SqliteStore]
    archive: type[Archive] = NatsArchive
    published: type[Published] = NatsArchive
    sender: type[Sender] = NatsSender
    backlogs: list[type[MissingVectors]] = [MemoryStore, SqliteStore]
    ledgers: list[type[Progress]] = [MemoryStore, SqliteStore]
    embedders: list[type[Embedder]] = [CachedEmbedder, NoEmbedder, OnnxEmbedder, ReferenceEmbedder]
    publisher: type[Publisher] = NatsPublisher
    stream: type[Stream] = NatsStream
    delivery: type[Delivery] = NatsDelivery
    rendering: type[Rendering] = JinjaRendering
    assert all([stores, backlogs, ledgers, embedders, publisher, stream, delivery, rendering])
    assert all([both, lookups, erasers, debts, archive, published, sender])


def test_a_port_has_at_most_five_methods() -> None:
    ours = (MissingVectors, BreadcrumbStore, Delivery, Embedder, Progress, Publisher, Stream)
    for port in (*ours, Archive, Eraser, Published, Reader, Sender, Store, PendingStubs):
        methods = [name for name in vars(port) if not name.startswith("_")]
        assert len(methods) <= 5, port
