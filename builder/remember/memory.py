"""Remember: a breadcrumb is stored once with its facts, which depend on no other breadcrumb."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TypeVar

from builder.domain.breadcrumb import SUMMARY, Breadcrumb, StreamMessage
from builder.domain.erasure import erased
from builder.domain.errors import Rejected, Unavailable
from builder.domain.identity import Identity
from builder.domain.json_text import canonical_text
from builder.domain.stored import Passage, StoredBreadcrumb
from builder.domain.timing import timed
from builder.language.instructions import instructions
from builder.language.sentences import Span, Spans, sentences
from builder.language.traits import traits
from builder.language.wording import fingerprint
from builder.language.words import Terms
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.remember.calls import call_words

THREAD_CHARS = 20_000
"""Work on a longer text is done in the thread."""

_THREAD = ThreadPoolExecutor(1, "long-input")
"""One, because several would leave the event loop little time."""

THREAD_TURN: ContextVar[Callable[[], AbstractAsyncContextManager[None]]] = ContextVar("thread_turn", default=nullcontext)
"""Within it the work of the present task is done; whoever hands out turns says how the task waits for the thread."""

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """The result of work done in the thread. Raises what it raises."""
    async with THREAD_TURN.get()():
        return await asyncio.get_running_loop().run_in_executor(_THREAD, work)


async def decoded(decode: Callable[[StreamMessage], Breadcrumb], message: StreamMessage) -> Breadcrumb:
    """The breadcrumb; a long message is decoded in the thread. Raises `Rejected`."""
    return await in_thread(lambda: decode(message)) if len(message.data) > THREAD_CHARS else decode(message)


PASSAGE_WORDS, LOG_WORDS = 90, 12
LOG_LINES = 8
"""Lines from which on a text may be a log."""
MAX_PASSAGE_CHARS = 1200
"""A passage in a text without ends to cut at (Han, base64, minified code)."""
MAX_PASSAGES = 500
"""About the most passages of a text: it bounds the time to remember, embed and search one breadcrumb."""

_LOG_LINE = re.compile(
    r"^[^\w\n]*(?:\d{4}-\d\d-\d\d|\d\d?:\d\d:\d\d|[A-Z][a-z]{2} +\d\d? \d\d:\d\d"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)",
    re.MULTILINE,
)
_JSON, _RECORD_END = re.compile(r"\S*\s*[{\[]"), re.compile(r'[}\]],\s*(?=\{|\[["\[{])')
"""The beginning of a result that is JSON, behind its tool's name, and what is between two records of a list."""
_LINE = re.compile(r"^.*$", re.MULTILINE)
_WORD_AND_SPACE = re.compile(r"\S+\s*")


def passages(text: str) -> Spans:
    """Spans (start, end) that cover every word in order; one empty span for an empty text."""
    most = LOG_WORDS if is_log(text) else PASSAGE_WORDS
    if len(text) <= MAX_PASSAGE_CHARS and len(text.split(maxsplit=most)) <= most:
        return ((0, len(text)),)
    stops = _stops(text)
    words = max(most, -(-max(len(text.split()), len(stops)) // MAX_PASSAGES))
    longest = max(MAX_PASSAGE_CHARS, -(-len(text) // MAX_PASSAGES))
    spans: list[Span] = []
    start, end, count = 0, 0, 0
    pieces = (_short(text, *stretch, max(words, PASSAGE_WORDS), longest) for stretch in pairwise((0, *stops)))
    for low, high in chain.from_iterable(pieces):  # a line of a log stays in one
        size = len(text[low:high].split())
        if count and (count + size > words or high - start > longest):
            spans.append((start, end))
            count = 0
        start = start if count else low
        end, count = high, count + size
    return (*spans, (start, end))


def is_log(text: str) -> bool:
    """Whether half of its lines begin with a time or a level."""
    lines = text.count("\n") + 1
    return lines >= LOG_LINES and 2 * sum(1 for _ in _LOG_LINE.finditer(text)) >= lines


def lines(text: str) -> Spans:
    """Spans of its lines, one empty span for an empty text."""
    return tuple(line.span() for line in _LINE.finditer(text))


def _stops(text: str) -> Sequence[int]:
    """Ends of its sentences, of a list in JSON of its records."""
    ends = [end.end() for end in _RECORD_END.finditer(text)] if _JSON.match(text) else []
    return (*ends, len(text)) if ends else [stop for _, stop in sentences(text)]


def _short(text: str, start: int, stop: int, words: int, longest: int) -> Iterator[Span]:
    while start < stop:
        start = stop - len(text[start:stop].lstrip())
        cut = stop
        if stop - start > min(longest, 2 * words - 1):  # else too short for more words
            matches = list(_WORD_AND_SPACE.finditer(text[start : min(stop, start + longest + 1)]))
            if len(matches) > words:
                cut = start + matches[words].start()
            elif stop - start > longest:
                cut = start + (matches[-1].start() if len(matches) > 1 else longest)
        if cut > start:
            yield start, cut
        start = cut


Pause = Callable[[], Awaitable[None]]


async def no_pause() -> None:
    """Go on at once."""


@dataclass(slots=True)
class Ingest:
    """Computes words at once, and vectors where the text is short."""

    embedder: Embedder
    terms: Terms
    """Text → stemmed terms joined by spaces."""
    count: Callable[[str], int]
    """Text → tokens."""
    passages_at_ingestion: int | None
    """A breadcrumb of more passages gets its vectors later; None = none does."""

    async def facts(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        """All facts; without vectors when the engine is unavailable or the text is long."""
        length = len(breadcrumb.text) + sum(map(len, breadcrumb.pointers))
        bare = await in_thread(lambda: self._words(breadcrumb)) if length > THREAD_CHARS else self._words(breadcrumb)
        if self.passages_at_ingestion is not None and len(bare.passages) > self.passages_at_ingestion:
            return bare
        try:
            return await self.with_vectors(bare)
        except Unavailable:
            return bare

    async def with_vectors(self, remembered: StoredBreadcrumb, pause: Pause = no_pause) -> StoredBreadcrumb:
        """The same with the vectors of all its passages. Raises `Unavailable`.

        pause: awaited before each passage, or each batch.
        """
        text, complete = remembered.breadcrumb.text, list[Passage]()
        batch = self.embedder.batch
        for first in range(0, len(remembered.passages), batch):
            await pause()
            passages = remembered.passages[first : first + batch]
            with timed("embedding"):
                vectors = await asyncio.gather(*(self.embed(text[passage.start : passage.end]) for passage in passages))
            complete += [replace(passage, vector=vector) for passage, vector in zip(passages, vectors, strict=True)]
        return replace(remembered, passages=tuple(complete), model=self.embedder.model)

    async def embed(self, text: str, *, is_query: bool = False) -> bytes:
        """The vector; empty for a blank text. is_query: as `Embedder.embed`. Raises `Unavailable`."""
        return await self.embedder.embed(text, is_query=is_query) if text.strip() else b""

    def _words(self, breadcrumb: Breadcrumb) -> StoredBreadcrumb:
        spans = (lines if breadcrumb.schema == SUMMARY else passages)(breadcrumb.text)
        by_person = breadcrumb.role == "user"
        begin = [instruction.start for instruction in instructions(breadcrumb.text)] if by_person else []
        calls, parts = call_words(breadcrumb), []
        for start, end in spans:
            text = breadcrumb.text[start:end]
            terms = self.terms(" ".join((text, *(() if start else (*breadcrumb.pointers, calls)))))
            marks = traits(text, instructs=any(start <= at < end for at in begin))
            parts.append(Passage(start, end, terms, b"", self.count(text), marks))
        compared = fingerprint(breadcrumb.text or calls)
        return StoredBreadcrumb(breadcrumb=breadcrumb, passages=tuple(parts), model="", fingerprint=compared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Idempotent on (workspace, id, version): the first one wins."""

    store: Store
    ingest: Ingest

    async def remember(self, breadcrumb: Breadcrumb, facts: StoredBreadcrumb | None = None) -> StoredBreadcrumb:
        """Store the breadcrumb with its facts, or return what is stored under its id and version; a trace where the id is closed.

        Raises `Rejected` when the id is another's or that has other content, and `Unavailable`.
        """
        stored = await self.store.facts(breadcrumb)
        if stored is not None and stored.breadcrumb.place == breadcrumb.place:
            return stored
        if stored is None or breadcrumb.place < stored.breadcrumb.place:
            new = facts or await self.ingest.facts(breadcrumb)
            if await self.store.remember(new):
                return new
            stored = await self.store.facts(breadcrumb)  # another task, or another worker, was first
        there = (await self.store.identities(breadcrumb.workspace, (breadcrumb.id,)))[breadcrumb.id]
        if stored is None or (stored.breadcrumb.place != breadcrumb.place and there.is_closed(breadcrumb)):
            return StoredBreadcrumb(breadcrumb=erased(breadcrumb), passages=(), model="", fingerprint=b"")
        _check_copy(stored.breadcrumb, breadcrumb, there)
        return stored


def _check_copy(stored: Breadcrumb, breadcrumb: Breadcrumb, there: Identity) -> None:
    is_free = breadcrumb.schema == SUMMARY or breadcrumb.id in (stored.removes, breadcrumb.removes)
    if stored.place == breadcrumb.place:
        return
    if reason := there.conflict(breadcrumb):
        raise Rejected(reason)
    if not is_free and canonical_text(stored.body) != canonical_text(breadcrumb.body):
        raise Rejected(
            f"id {breadcrumb.id!r} version {breadcrumb.version} is taken: the breadcrumb that came first has other "
            "content; publish the next version, or take another id"
        )
