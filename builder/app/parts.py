"""The parts of the service that a caller may choose: an installation its own store, a test a part that fails."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nats.aio.client import Client
from nats.aio.msg import Msg

from builder.adapters.embedding import CachedEmbedder, open_embedder
from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.peers import BEAT_SECONDS
from builder.adapters.nats.publisher import NatsPublisher
from builder.app.config import ConfigSnapshot, read_config
from builder.app.stores import STORES, StoreSchemes
from builder.ports.broker import Delivery, Publisher
from builder.wire.subjects import Installation
from builder.worker.purging import POLL_SECONDS
from builder.worker.resilience import PACE, PAUSES, Pace, Pauses


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What `open_components` and `open_service` put together."""

    stores: StoreSchemes = field(default_factory=lambda: STORES)
    """The stores that a URL may name."""
    embedder: Callable[[str, str, Path, int], CachedEmbedder] = open_embedder
    """Engine, model, folder of models and size of the cache → the embedder, which begins to load."""
    publisher: Callable[[Client, int, Installation], Publisher] = NatsPublisher
    """Connection, its largest payload and the installation → the publisher."""
    delivery: Callable[[Msg, int], Delivery] = NatsDelivery
    """Message and incarnation of its stream → the delivery."""
    engine_seconds: float = 3.0
    """The start waits so long for the engine; earlier breadcrumbs are found by words alone and embedded later."""
    watch_seconds: float = 2.0
    """Between two checks of streams and durables."""
    beat_seconds: float = BEAT_SECONDS
    """Between two heartbeats for the other workers."""
    purge_poll_seconds: float = POLL_SECONDS
    """Between two looks whether a purge is due."""
    reader: Callable[..., ConfigSnapshot] = read_config
    """As `read_config`: the files of the templates folders."""
    reading_seconds: float = 20.0
    """The longest that reading these files may take."""
    pauses: Pauses = PAUSES
    """Before a delivery is retried."""
    pace: Pace = PACE
    """Of the backfill of vectors."""


PARTS = Parts()
