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
    owner: str = ""
    """"" = none that is known."""
    session: str = ""
    """Token; "" = nothing of the record is kept, because it is a secret, a context, or cannot be read."""
    by_extension: bool = False
    """Whether it came from the browser extension."""

    def has(self, version: int, owner: str) -> bool:
        """Whether this version is in. owner: "" = it is not said."""
        return self.version >= version and bool(self.owner or not owner)


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
                return frozenset(await self._bucket.keys()) - {_JOINED}
            except NoKeysError:
                return frozenset()

    async def has_joined(self) -> bool:
        """Whether all that RCRT held at first is in."""
        return bool(await self._value(_JOINED))

    async def join(self) -> None:
        """All that RCRT held at first is in: what comes from now on is news."""
        with translated(_FAILED, _ADVICE):
            await self._bucket.put(_JOINED, b"yes")

    async def _value(self, key: str) -> bytes:
        with translated(_FAILED, _ADVICE):
            try:
                return (await self._bucket.get(key)).value or b""
            except KeyNotFoundError:
                return b""
