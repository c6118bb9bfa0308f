"""What of RCRT is in already: a key-value bucket that all bridges of an installation share, and that outlives them."""

import json
from dataclasses import asdict, dataclass

from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import BucketNotFoundError, KeyNotFoundError, NoKeysError
from nats.js.kv import KeyValue

from builder.client.connecting import translated
from builder.wire.subjects import Installation

_JOINED = "joined"
_FAILED, _ADVICE = "the ledger of RCRT's records failed", "is the broker up, and may this user make key-value buckets?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record that is in."""

    version: int
    workspace: str
    session: str = ""
    """Token; "" = nothing of the record is kept, because it is a secret, a context, or cannot be read."""
    created_at: str = ""
    """RFC 3339, by RCRT's clock."""
    by_extension: bool = False
    """Whether it came from the browser extension."""


class Ledger:
    """Methods raise `Unavailable`."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket

    @classmethod
    async def open(cls, js: JetStreamContext, installation: Installation, replicas: int) -> "Ledger":
        """The bucket, made where it is missing. Raises `Unavailable`."""
        name = f"{installation.name}-rcrt"
        with translated(_FAILED, _ADVICE):
            try:
                return cls(await js.key_value(name))
            except BucketNotFoundError:
                config = KeyValueConfig(bucket=name, history=1, storage=StorageType.FILE, replicas=replicas)
                return cls(await js.create_key_value(config))

    async def entry(self, identity: str) -> Entry | None:
        """The record of an id."""
        text = await self._value(identity)
        return Entry(**json.loads(text)) if text else None

    async def note(self, identity: str, entry: Entry) -> None:
        """The record is in."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.put(identity, json.dumps(asdict(entry)).encode())

    async def drop(self, identity: str) -> None:
        """The record is deleted."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.delete(identity)

    async def ids(self) -> frozenset[str]:
        """All records that are in."""
        with translated(_FAILED, _ADVICE):
            try:
                return frozenset(key for key in await self._bucket.keys() if not key.startswith(_JOINED))
            except NoKeysError:
                return frozenset()

    async def has_joined(self, workspace: str) -> bool:
        """Whether all that RCRT held of the owner at first is in."""
        return bool(await self._value(f"{_JOINED}.{workspace}"))

    async def join(self, workspace: str) -> None:
        """All that RCRT held of the owner at first is in: what comes from now on is news."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.put(f"{_JOINED}.{workspace}", b"yes")

    async def _value(self, key: str) -> bytes:
        with translated(_FAILED, _ADVICE):
            try:
                return (await self._bucket.get(key)).value or b""
            except KeyNotFoundError:
                return b""
