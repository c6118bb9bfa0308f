"""Locks by key."""

import asyncio
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key")


class KeyedLock(Generic[Key]):
    """Locks that exist while held or awaited; first come, first served."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: Key) -> asyncio.Lock:
        """The key's lock."""
        return self._locks.setdefault(key, asyncio.Lock())
