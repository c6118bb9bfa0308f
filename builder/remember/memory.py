"""Remember: a breadcrumb is stored with its facts, once. No fact depends on any other breadcrumb."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected, Unavailable
from builder.domain.stored_breadcrumb import Passage, StoredBreadcrumb
from builder.domain.summary import SUMMARY
from builder.language.instructions.detection import instructions
from builder.language.sameness import fingerprint
from builder.language.traits import traits
from builder.ports.models import Embedder
from builder.ports.store import BreadcrumbStore
from builder.remember.long_input import THREAD_CHARS, in_thread
from builder.remember.passages import lines, passages
from builder.wire.json import canonical_text

Pause = Callable[[], Awaitable[None]]


async def no_pause() -> None:
    """Go on at once."""


class Ingest:
    """Computes the words at once, and the vectors at once where the text is short."""

    def __init__(
        self, embedder: Embedder, terms: Callable[[str], str], count: Callable[[str], int], passages_at_ingestion: int | None
    ) -> None:
        """terms: text → stemmed terms joined by spaces. count: text → tokens.

        passages_at_ingestion: a breadcrumb of more passages gets its vectors later; None = none does.
        """
        self.batch = embedder.batch
        self._embedder = embedder
        self._terms = terms
        self._count = count
        self._passages_at_ingestion = passages_at_ingestion

    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """All facts; without vectors when the engine is unavailable, or when a later trigger would wait for so long a text."""
        words = partial(self._words, breadcrumb)
        length = len(breadcrumb.text) + sum(map(len, breadcrumb.pointers))
        bare = await in_thread(words) if length > THREAD_CHARS else words()
        if self._passages_at_ingestion is not None and len(bare.passages) > self._passages_at_ingestion:
            return bare
        try:
            return await self.with_vectors(bare)
        except Unavailable:
            return bare

    async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
        """The same with the vectors of all its passages; blank ones have none. Raises `Unavailable`: all or nothing.

        pause: awaited before each passage, or before each batch of an engine that takes several.
        """
        text, complete = remembered.breadcrumb.text, list[Passage]()
        for first in range(0, len(remembered.passages), self.batch):
            await pause()
            passages = remembered.passages[first : first + self.batch]
            vectors = await asyncio.gather(*(self.embed(text[passage.start : passage.end]) for passage in passages))
            complete += [replace(passage, vector=vector) for passage, vector in zip(passages, vectors, strict=True)]
        return replace(remembered, passages=tuple(complete), model=self._embedder.model)

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:
        """The vector; empty for a blank text. is_query: as `Embedder.embed`. Raises `Unavailable`."""
        return await self._embedder.embed(text, is_query=is_query) if text.strip() else b""

    def _words(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """All facts but the vectors."""
        return StoredBreadcrumb(
            breadcrumb=breadcrumb,
            passages=self._passages(breadcrumb, (lines if breadcrumb.schema == SUMMARY else passages)(breadcrumb.text)),
            model="",
            fingerprint=fingerprint(breadcrumb.text),
        )

    def _passages(self, breadcrumb: Breadcrumb, spans: tuple[tuple[int, int], ...]) -> tuple[Passage, ...]:
        """Instructions are searched in the whole text of a person: a pasted part is recognised by the line above it."""
        by_person = breadcrumb.role == "user"
        begin = [instruction.start for instruction in instructions(breadcrumb.text)] if by_person else []
        return tuple(self._passage(breadcrumb, *span, by_person, any(span[0] <= at < span[1] for at in begin)) for span in spans)

    def _passage(self, breadcrumb: Breadcrumb, start: int, end: int, by_person: bool, instructs: bool) -> Passage:
        """Pointers are searched with the first passage."""
        text = breadcrumb.text[start:end]
        pointers = () if start else breadcrumb.pointers
        terms = self._terms(" ".join((text, *pointers)))
        return Passage(start, end, terms, b"", self._count(text), traits(text, by_person=by_person, instructs=instructs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Idempotent on (workspace, id, version): the first one stands, with its place and age."""

    store: BreadcrumbStore
    ingest: Ingest

    async def remember(self, breadcrumb: Breadcrumb, facts: StoredBreadcrumb | None = None) -> StoredBreadcrumb:
        """Store the breadcrumb with its facts, or return what is stored under its id and version.

        facts: where they have been computed already.

        Raises `Rejected` when that is a breadcrumb of another session or with other content, and `Unavailable`.
        """
        stored = await self.store.facts(breadcrumb)
        if stored is None:
            stored = facts or await self.ingest.facts(breadcrumb)
            await self.store.remember(stored)
        else:
            _check_identity(stored.breadcrumb, breadcrumb)
        return stored


def _check_identity(stored: Breadcrumb, breadcrumb: Breadcrumb) -> None:
    if stored.session != breadcrumb.session:
        raise Rejected(
            f"id {breadcrumb.id!r} version {breadcrumb.version} belongs to session {stored.session!r} of this "
            "workspace; give every breadcrumb of a workspace an id of its own"
        )
    if _differs(stored, breadcrumb):
        raise Rejected(
            f"id {breadcrumb.id!r} version {breadcrumb.version} is taken: the breadcrumb that came first has other "
            "content; publish the next version, or take another id"
        )


def _differs(stored: Breadcrumb, breadcrumb: Breadcrumb) -> bool:
    """Whether the content differs. Two workers may word one summary differently; a removal has the id of what it removes."""
    if stored.place == breadcrumb.place or breadcrumb.schema == SUMMARY or breadcrumb.id in (stored.removes, breadcrumb.removes):
        return False
    return stored.schema != breadcrumb.schema or canonical_text(stored.body) != canonical_text(breadcrumb.body)
