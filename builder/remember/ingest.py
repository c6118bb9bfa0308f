"""Ingestion: breadcrumb → breadcrumb with its facts. Nothing here depends on any other breadcrumb."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Unavailable
from builder.domain.stored_breadcrumb import Passage, StoredBreadcrumb
from builder.language.instructions.detection import instructions
from builder.language.sameness import fingerprint
from builder.language.traits import traits
from builder.ports.models import Embedder
from builder.remember.passages import passages

LONG_TEXT = 20_000
"""Characters from which on the facts of a text are found in a thread, so that no other session waits for them."""

Pause = Callable[[], Awaitable[None]]


async def no_pause() -> None:
    """Go on at once."""


class Ingest:
    """Finds words at once, and vectors at once where the text is short."""

    def __init__(
        self, embedder: Embedder, terms: Callable[[str], str], count: Callable[[str], int], passages_at_ingestion: int | None
    ) -> None:
        """terms: text → stemmed terms joined by spaces. count: text → tokens.

        passages_at_ingestion: a breadcrumb of more passages gets its vectors later; None = none does.
        """
        self._embedder = embedder
        self._terms = terms
        self._count = count
        self._passages_at_ingestion = passages_at_ingestion
        self._beside = asyncio.Lock()

    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """All facts; without vectors when the engine is away, or when the text is so long that a trigger behind it would wait."""
        bare = await self._words_beside(breadcrumb) if len(breadcrumb.text) > LONG_TEXT else self._words(breadcrumb)
        if self._passages_at_ingestion is not None and len(bare.passages) > self._passages_at_ingestion:
            return bare
        try:
            return await self.with_vectors(bare)
        except Unavailable:
            return bare

    async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
        """The same with the vectors of all its passages; blank ones have none. Raises `Unavailable`: all or nothing.

        pause: awaited before each passage.
        """
        text, vectors = remembered.breadcrumb.text, list[bytes]()
        for held in remembered.passages:
            await pause()
            vectors.append(await self.embed(text[held.start : held.end]))
        filled = (replace(held, vector=vector) for held, vector in zip(remembered.passages, vectors, strict=True))
        return replace(remembered, passages=tuple(filled), model=self._embedder.model)

    async def embed(self, text: str) -> bytes:
        """The vector; empty for a blank text. Raises `Unavailable`."""
        return await self._embedder.embed(text) if text.strip() else b""

    async def _words_beside(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """In a thread, one text at a time: several would take turns with the event loop and leave it little."""
        async with self._beside:
            return await asyncio.to_thread(self._words, breadcrumb)

    def _words(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """All facts but the vectors."""
        return StoredBreadcrumb(
            breadcrumb=breadcrumb,
            passages=self._passages(breadcrumb, passages(breadcrumb.text)),
            model="",
            fingerprint=fingerprint(breadcrumb.text),
        )

    def _passages(self, breadcrumb: Breadcrumb, spans: tuple[tuple[int, int], ...]) -> tuple[Passage, ...]:
        """Instructions are looked for in the whole of what a person said: what is pasted tells itself by what stands above it."""
        by_person = breadcrumb.role == "user"
        begin = [found.start for found in instructions(breadcrumb.text)] if by_person else []
        return tuple(self._passage(breadcrumb, *span, by_person, any(span[0] <= at < span[1] for at in begin)) for span in spans)

    def _passage(self, breadcrumb: Breadcrumb, start: int, end: int, by_person: bool, instructs: bool) -> Passage:
        """Pointers are searched with the first passage."""
        text = breadcrumb.text[start:end]
        pointers = () if start else breadcrumb.pointers
        terms = self._terms(" ".join((text, *pointers)))
        return Passage(start, end, terms, b"", self._count(text), traits(text, by_person=by_person, instructs=instructs))
