"""Shipped fakes, held to the same contract suites as the real parts."""

from builder.adapters.memory.location import MemoryLocation
from builder.adapters.memory.store import MemoryStore

__all__ = ["MemoryLocation", "MemoryStore"]
