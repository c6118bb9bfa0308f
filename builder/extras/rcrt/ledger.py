"""The versions of RCRT's records that are stored already: a key-value bucket, which outlives the bridge."""

import json
from dataclasses import asdict, dataclass

from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import BucketNotFoundError, KeyNotFoundError, NoKeysError
from nats.js.kv import KeyValue

from builder.connection.opening import translated
from builder.wire.subjects import Installation

_JOINED = "joined."
_FAILED, _ADVICE = "the ledger of RCRT's records failed", "is the broker up, and may this user make key-value buckets?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record that is stored."""

    version: int
    workspace: str
    session: str = ""
    """Token; "" = nothing of the record is kept, because it is a secret, a context, or cannot be read."""
    created_at: str = ""
    """RFC 3339, by RCRT's clock."""
    by_extension: bool = False
    """Whether it came from the browser extension."""


class Ledger:
    """Methods raise `Unavailable`. `ensure` comes first."""

    def __init__(self, js: JetStreamContext, installation: Installation, replicas: int) -> None:
        self._js = js
        self._config = KeyValueConfig(bucket=f"{installation.name}-rcrt", history=1, storage=StorageType.FILE, replicas=replicas)
        self._bucket: KeyValue

    async def ensure(self) -> bool:
        """Make the bucket where it is missing; returns whether it was."""
        with translated(_FAILED, _ADVICE):
            try:
                self._bucket = await self._js.key_value(self._config.bucket)
            except BucketNotFoundError:
                self._bucket = await self._js.create_key_value(self._config)
                return True
        return False

    async def entry(self, identity: str) -> Entry | None:
        """The record of an id."""
        text = await self._value(identity)
        return Entry(**json.loads(text)) if text else None

    async def note(self, identity: str, entry: Entry) -> None:
        """The record is stored."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.put(identity, json.dumps(asdict(entry)).encode())

    async def drop(self, identity: str) -> None:
        """The record is deleted."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.delete(identity)

    async def ids(self) -> frozenset[str]:
        """All records that are stored."""
        return frozenset(key for key in await self._keys() if not key.startswith(_JOINED))

    async def workspaces(self) -> frozenset[str]:
        """Owners of whom all is stored that RCRT held at first."""
        return frozenset(key.removeprefix(_JOINED) for key in await self._keys() if key.startswith(_JOINED))

    async def has_joined(self, workspace: str) -> bool:
        """Whether all that RCRT held of the owner at first is stored."""
        return bool(await self._value(f"{_JOINED}{workspace}"))

    async def join(self, workspace: str) -> None:
        """All that RCRT held of the owner at first is stored: what comes from now on is news."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.put(f"{_JOINED}{workspace}", b"yes")

    async def _keys(self) -> list[str]:
        with translated(_FAILED, _ADVICE):
            try:
                return await self._bucket.keys()
            except NoKeysError:
                return []

    async def _value(self, key: str) -> bytes:
        with translated(_FAILED, _ADVICE):
            try:
                return (await self._bucket.get(key)).value or b""
            except KeyNotFoundError:
                return b""
