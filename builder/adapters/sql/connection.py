"""A database as the statements of this package use it: a connection that runs functions in transactions.

The statements are SQL that SQLite and PostgreSQL both know: `?` stands for a value, `?3` for the third. `INDEXED BY` and
`CROSS JOIN … ON` lead the planner of SQLite; PostgreSQL's adapter leaves them out. `json_each(TEXT)` gives each
`value` of a list.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from time import monotonic
from typing import Any, Protocol, TypeVar

from builder.domain.errors import Unavailable

Row = tuple[Any, ...]
EVERY_WORKSPACE = "*"
T = TypeVar("T")


class Access(Enum):
    """The purpose of a transaction. READING is on one snapshot."""

    READING = "reading"
    WRITING = "writing"


class Vector(bytes):
    """A little-endian float16 vector as a value; none when empty. A database gives `bytes` back, or None."""

    __slots__ = ()


class Cursor(Protocol):
    """Statements of one transaction."""

    def execute(self, text: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of one statement."""

    def executemany(self, text: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for each row of values."""

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, as quickly as the database can. columns: names, with commas."""
        values = ", ".join("?" * len(columns.split(", ")))
        self.executemany(f"INSERT INTO {table} ({columns}) VALUES ({values})", rows)

    def changes(self) -> int:
        """How many rows the last statement wrote."""

    def lock(self, name: str) -> None:
        """Let no other transaction pass a lock of this name until this one ends."""


REFUSAL_SECONDS = 60.0
"""How long a refused write is reported, unless it succeeds."""


class Refusals:
    """Why writes failed, by their kind."""

    def __init__(self) -> None:
        self._sentences: dict[str, tuple[str, float]] = {}

    @contextmanager
    def noting(self, work: Callable[[Cursor], object], access: Access) -> Iterator[None]:
        """Note an `Unavailable` of the block if the function writes; forget it once the same function succeeds."""
        kind = getattr(work, "__qualname__", "")
        try:
            yield
        except Unavailable as error:
            if access is Access.WRITING:
                self._sentences[kind] = str(error), monotonic()
            raise
        self._sentences.pop(kind, None)

    @property
    def newest(self) -> str:
        """The newest one of the last minute; "" = none."""
        recent = [sentence for sentence, moment in tuple(self._sentences.values()) if monotonic() - moment < REFUSAL_SECONDS]
        return recent[-1] if recent else ""


class Connection(Protocol):
    """Runs functions, each inside one transaction."""

    derived: tuple[str, ...] = ()
    """Tables that the database fills by itself when rows come."""

    async def run(self, work: Callable[[Cursor], T], access: Access = Access.WRITING, workspace: str = EVERY_WORKSPACE) -> T:
        """The function's result, durable. workspace: whose rows it sees and writes. Raises `Unavailable`."""
        ...

    async def rows(self, text: str, values: Sequence[Any] = (), workspace: str = EVERY_WORKSPACE) -> list[Row]:
        """All rows of a query. Raises `Unavailable`."""
        return await self.run(lambda sql: list(sql.execute(text, values)), Access.READING, workspace)

    async def flush(self, sessions: Sequence[str]) -> None:
        """Take deleted rows of these sessions off the disk. Raises `Unavailable`."""

    async def check(self) -> str:
        """Why the database cannot be read right now; empty when it can."""

    @property
    def refusal(self) -> str:
        """Why a write failed lately; "" once the same write succeeded."""

    def size_bytes(self) -> int:
        """Bytes that the store occupies."""

    def free_bytes(self) -> int | None:
        """Bytes free where the store lies; None = not known."""

    def close(self) -> None:
        """Finish what runs and close."""
