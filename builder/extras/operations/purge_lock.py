"""The turn of a worker to purge, as a key on the broker."""

from contextlib import suppress

from nats.js import JetStreamContext
from nats.js.errors import BucketNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from builder.adapters.nats.connection import translated
from builder.adapters.nats.topology import PURGE_KEY
from builder.domain.errors import Unavailable
from builder.wire.subjects import Installation

TTL_SECONDS = 8.0
"""Age at which the broker removes the key: that of a killed worker is free then."""


class PurgeLock:
    """A key of a key-value bucket, which the first claim makes. A broker that fails is as good as a free key."""

    def __init__(self, js: JetStreamContext, installation: Installation, replicas: int = 1, ttl: float = TTL_SECONDS) -> None:
        """replicas: of the bucket. ttl: seconds after which the broker removes the key, where the bucket is made."""
        self._js = js
        self._name = installation.bucket
        self._replicas = replicas
        self._ttl = ttl

    async def claim(self) -> bool:
        """Whether this worker may purge now."""
        with suppress(Unavailable), translated("claiming the purge"):
            try:
                await (await self._bucket()).create(PURGE_KEY, b"")
            except KeyWrongLastSequenceError:
                return False
        return True

    async def renew(self) -> None:
        """Hold the key for `ttl` seconds more."""
        with suppress(Unavailable), translated("holding the purge"):
            await (await self._bucket()).put(PURGE_KEY, b"")

    async def release(self) -> None:
        """Let another worker purge."""
        with suppress(Unavailable), translated("ending the purge"):
            await (await self._bucket()).delete(PURGE_KEY)

    async def _bucket(self) -> KeyValue:
        try:
            return await self._js.key_value(self._name)
        except BucketNotFoundError:
            return await self._js.create_key_value(bucket=self._name, ttl=self._ttl, replicas=self._replicas)
