"""The next summary of a chain: its lines, and its way to the stream, from where it comes back like everything."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

from builder.adapters.stemmer import load_language
from builder.domain.breadcrumb import SUMMARY, Breadcrumb, Place
from builder.domain.errors import Rejected, Unavailable
from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine, Summary
from builder.extras.summaries.chain import Chain, WaitingUnit, is_from_person, sources_of, summary_ids, utterance
from builder.extras.summaries.extraction import extract
from builder.extras.summaries.questions import needs_question, question_of
from builder.ports.models import Summarizer
from builder.ports.store import BreadcrumbStore
from builder.ports.stream import Sender
from builder.recall.index.conversation import of_audience
from builder.recall.index.view import View
from builder.recall.summaries.lines import line_of, shown_lines, verbatim_line
from builder.recall.summaries.recipes import Recipe
from builder.service import Functions
from builder.wire.records import Outgoing, make_record, outgoing
from builder.worker.jobs import Observer

log = logging.getLogger("builder.extras.summaries.writer")

MAX_SUMMARY_BYTES = 900_000
"""Below what a breadcrumb may have, unless the settings say less."""
MAX_EARLIER_OBSERVATIONS = 200
"""Newest observations that a model is given, to say which of them hold no more."""
EXTRACTIVE_NAME = "extractive"
RECIPE_TAG = "recipe:"
"""Beginning of the tag that names the settings of a summary."""


Session = tuple[str, str]
"""A workspace, and a session in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A summary that is not published yet."""

    chain: Chain
    event: Outgoing
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The units that a summary newly stands for."""

    session: Session
    recipe: Recipe
    units: tuple[WaitingUnit, ...]
    keep_user: bool = False
    at_once: bool = False
    """It was requested, so the next page shows it."""


class SummaryWriter:
    """Makes summaries, one at a time."""

    def __init__(
        self,
        sender: Sender,
        words: Functions,
        endpoint: Summarizer | None,
        store: BreadcrumbStore,
        observer: Observer,
        max_bytes: int = MAX_SUMMARY_BYTES,
    ) -> None:
        """endpoint: None = extractive only. max_bytes: of a breadcrumb."""
        self.words = words
        self._language = load_language()
        self._sender = sender
        self._endpoint = endpoint
        self._store = store
        self._observer = observer
        self._max_bytes = min(MAX_SUMMARY_BYTES, max_bytes)

    def writes(self, recipe: Recipe) -> bool:
        """Whether it summarises unasked: where a model should, only if there is one."""
        return recipe.settings.by == "extractive" or self._endpoint is not None

    async def send(self, draft: Draft) -> Place:
        """Publish a draft; returns its place in the stream. Raises `Unavailable`."""
        sent = await self._sender.send(draft.event.subject, draft.event.data, draft.event.message_id)
        self._observer.summarised(draft.by)
        log.info("summary %s is published on %s, made by %s", draft.chain.previous, draft.event.subject, draft.by)
        return sent.place

    async def draft(self, view: View, chain: Chain, batch: Batch) -> Draft:
        """The chain's next summary. Raises `Rejected` when it is too large for a breadcrumb, and `Unavailable`."""
        view = of_audience(view, batch.recipe.audience, None)
        verbatim, others = _split_batch(view, chain, batch)
        people = frozenset(view.row_of(line.ids[0]) for line in (*chain.lasting, *verbatim) if line.verbatim)
        observed, by = await self._observed(view, chain, batch.recipe, others)
        free = chain.free if by else await self._free(view, chain, batch.recipe, others, people)
        lines, sources = shown_lines(view, (*verbatim, *observed), free), sources_of(view, batch.units)
        covered, versions = zip(*sources, strict=True)
        last = max(batch.units[-1][0], chain.last)
        head = view.breadcrumb(last)
        summary = Summary(
            lines=lines,
            covered=covered,
            versions=versions,
            previous=chain.previous,
            last=head.id,
            recipe=batch.recipe.name,
            by=by or EXTRACTIVE_NAME,
            language=self._language("\n".join(line.text for line in lines)),
            at_once=batch.at_once,
        )
        workspace, session = batch.session
        name = await self._unused(view, summary_ids(workspace, session, batch.recipe, chain.previous, sources), head)
        # Of the time of the last breadcrumb that it covers, so all workers send the same bytes.
        record = make_record(SUMMARY, name, session, summary.body(), created_at=head.created_at)
        event = outgoing(record | {"tags": [f"{RECIPE_TAG}{batch.recipe.name}"]}, workspace)
        if len(event.data) > self._max_bytes:
            raise Rejected(
                f"the summary of session {session!r} would have {len(event.data):,} bytes, allowed are "
                f"{self._max_bytes:,}; "
                "do not keep what people said word for word, or raise CONTEXT_BUILDER_WORKER__MAX_BODY_BYTES where it is lower"
            )
        grown = Chain(lasting=(*chain.lasting, *verbatim, *observed), free=free, previous=name, last=last)
        return Draft(chain=grown, event=event, by=summary.by)

    async def _unused(self, view: View, names: Iterator[str], like: Breadcrumb) -> str:
        """The first of these ids under which a summary would be remembered and count. like: a breadcrumb of its workspace.

        A summary of the view under such an id was deleted or passed over, else the chain would continue from it. An erased one is
        in the store alone, which stores nothing more under its id.
        """
        name = next(names)
        while view.row_of(name) >= 0 or _is_erased(await self._store.facts(replace(like, id=name, version=1))):
            name = next(names)
        return name

    async def _observed(
        self, view: View, chain: Chain, recipe: Recipe, rows: tuple[int, ...]
    ) -> tuple[tuple[KeptLine, ...], str]:
        """The endpoint's observations of these rows and its name; nothing where the extractive summariser does it."""
        utterances = tuple(utterance(view, row) for row in rows if view.breadcrumb(row).text.strip())
        if recipe.settings.by != "endpoint" or not self._endpoint or not utterances:
            return (), ""
        earlier = tuple(line for line in shown_lines(view, chain.lasting, ()) if line.id)[-MAX_EARLIER_OBSERVATIONS:]
        try:
            return await self._endpoint.summarise(earlier, utterances, recipe.settings.cap), self._endpoint.name
        except Unavailable as error:
            log.warning("the extractive summariser is used: %s", error)
            self._observer.summarised("fallback")
            return (), ""

    async def _free(
        self, view: View, chain: Chain, recipe: Recipe, rows: tuple[int, ...], verbatim_rows: frozenset[int]
    ) -> tuple[KeptLine, ...]:
        """The lines under the cap. verbatim_rows: rows that stay word for word."""
        free, batch, cap = chain.free, recipe.settings.batch, recipe.settings.cap
        for start in range(0, max(len(rows), 1), batch):
            free = extract(view, free, rows[start : start + batch], cap, self.words, verbatim_rows)
            await asyncio.sleep(0)
        return free


def _is_erased(stored: StoredBreadcrumb | None) -> bool:
    return stored is not None and stored.breadcrumb.kind in {"secret", "erased"}


def _split_batch(view: View, chain: Chain, batch: Batch) -> tuple[tuple[KeptLine, ...], tuple[int, ...]]:
    """The batch's lines word for word, and its rows that are summarised. What stays word for word does so after an edit too.

    An answer that says little alone has its question in front of it, word for word.
    """
    in_chain = frozenset(name for line in chain.lasting if line.verbatim for name in line.ids)
    rows = tuple(row for _, members in batch.units for row in members)
    lines = {
        row: verbatim_line(view, row)
        for row in rows
        if is_from_person(view, row) and (batch.keep_user or view.breadcrumb(row).id in in_chain)
    }
    others = tuple(row for row in rows if row not in lines)
    if batch.keep_user:
        for row in tuple(lines):
            lines = _questions(view, row, in_chain) | lines
    return tuple(lines[row] for row in sorted(lines)), others


def _questions(view: View, row: int, in_chain: frozenset[str]) -> dict[int, KeptLine]:
    """The question of an answer that says little alone, unless the chain has it."""
    pair = question_of(view, row) if needs_question(view.breadcrumb(row).text) else None
    if pair is None or view.breadcrumb(pair[0]).id in in_chain:
        return {}
    asking, question = pair
    return {asking: replace(line_of(view, asking, question.text), verbatim=True)}
