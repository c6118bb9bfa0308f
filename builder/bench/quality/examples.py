"""The examples that `bench fit` learns from: every question put to its conversation, and messages that it cannot answer."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from builder.bench.data.datasets import Conversation, Dataset, pieces, remember
from builder.bench.data.unanswerable import foreign, ordinary
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile
from builder.recall.index.breadcrumb_table import Rows
from builder.recall.index.view import View
from builder.recall.search.candidates import eligible_breadcrumbs, eligible_passages
from builder.recall.search.chance import shares
from builder.recall.search.query import Query
from builder.recall.search.scoring import exact, further, lifted, literal_passages
from builder.recall.search.signals import SIGNALS
from builder.service import ContextBuilder

Floats = NDArray[np.float64]

NAMES = tuple(SIGNALS)
FOREIGN_QUESTIONS = 100
"""Questions of other conversations that each conversation is asked."""
PIECE_SIZES = (30, 120)
"""Messages of the pieces of a conversation that are asked too, as conversations of their own."""
FEW = 8
"""Questions of other conversations, and ordinary messages, that each piece is asked."""
ORDINARY_STEP = 4
"""Each conversation hears one in so many of the ordinary messages, others than the conversation before it."""
Kind = Literal["answered", "foreign", "ordinary"]


@dataclass(frozen=True, slots=True)
class Example:
    """One message, put to a conversation.

    gold: passages that hold evidence → share of it, the same for each message; empty where nothing answers.
    features: shape (passages, NAMES). piece: messages of the piece of its conversation; 0 = all.
    """

    dataset: str
    session: str
    piece: int
    kind: Kind
    features: NDArray[np.float32]
    gold: Mapping[int, float]
    query: Query
    view: View
    findable: Rows
    exact: NDArray[np.float32]
    literal: NDArray[np.float32]

    def share(self, weights: Mapping[str, float]) -> Floats:
        """The share of each passage, as `scored` computes it with these weights, shape (passages,)."""
        columns = [NAMES.index(name) for name in weights]
        learned = self.features[:, columns] @ np.array(list(weights.values()), np.float32)
        scores = learned + self.exact - further(self.view, learned)
        return shares(lifted(self.query, self.view, scores, self.literal, self.findable), self.findable)


async def examples(
    builder: ContextBuilder, datasets: Sequence[Dataset], profile: Profile, step: Callable[[], None]
) -> tuple[Example, ...]:
    """Every question that has evidence, questions of other conversations, and ordinary messages. Remembers the conversations."""
    collected: list[Example] = []
    conversations = [(dataset, conversation) for dataset in datasets for conversation in dataset.conversations]
    for turn, (dataset, conversation) in enumerate(conversations):
        others = tuple(foreign(conversation, datasets, FOREIGN_QUESTIONS))
        idle = tuple(ordinary(conversation, held_out=False))
        whole = (*_of_kind("foreign", others), *_of_kind("ordinary", idle[turn % ORDINARY_STEP :: ORDINARY_STEP]))
        collected += await _of(builder, dataset, conversation, profile, 0, whole, step)
        for size in PIECE_SIZES:
            for number, piece in enumerate(pieces(conversation, size)):
                few = (*_of_kind("foreign", _few(others, number)), *_of_kind("ordinary", _few(idle, number)))
                collected += await _of(builder, dataset, piece, profile, size, few, step)
    return tuple(collected)


def _few(triggers: Sequence[Breadcrumb], number: int) -> Sequence[Breadcrumb]:
    return triggers[number % FEW :: max(len(triggers) // FEW, 1)]


def _of_kind(kind: Kind, triggers: Sequence[Breadcrumb]) -> Iterator[tuple[Kind, Breadcrumb]]:
    return ((kind, trigger) for trigger in triggers)


async def _of(
    builder: ContextBuilder,
    dataset: Dataset,
    conversation: Conversation,
    profile: Profile,
    piece: int,
    others: Sequence[tuple[Kind, Breadcrumb]],
    step: Callable[[], None],
) -> list[Example]:
    """The examples of one conversation, or of a piece of it. others: what it cannot answer."""
    await remember(builder, conversation, step)
    workspace = conversation.breadcrumbs[0].workspace
    collected = []
    for question in conversation.questions:
        kind: Kind = "answered" if question.evidence else "foreign"
        example = await _example(builder, dataset.name, profile, question.trigger, question.evidence, piece, kind)
        if example.gold or kind == "foreign":
            collected.append(example)
    for other, trigger in others:
        here = replace(trigger, workspace=workspace)
        collected.append(await _example(builder, dataset.name, profile, here, (), piece, other))
    return collected


async def _example(
    builder: ContextBuilder,
    dataset: str,
    profile: Profile,
    trigger: Breadcrumb,
    gold: tuple[str, ...],
    piece: int,
    kind: Kind,
) -> Example:
    (recall,) = await builder.recaller.recall(trigger, (profile,))
    view = recall.view
    query = await builder.searcher.query(trigger.text, view, recall.profile, recall.scope, {})
    rules = profile.retrieval
    findable = eligible_passages(query, view, rules, eligible_breadcrumbs(query, view, rules))
    ids = [view.breadcrumb(int(row)).id for row in view.crumb]
    numbers = Counter(id_ for id_ in ids if id_ in gold)
    return Example(
        dataset=dataset,
        session=trigger.session,
        piece=piece,
        kind=kind,
        features=np.stack([scale(signal(query, view)) for signal, scale in SIGNALS.values()], axis=1),
        gold={passage: 1 / numbers[id_] / len(numbers) for passage, id_ in enumerate(ids) if id_ in gold},
        query=query,
        view=view,
        findable=findable,
        exact=exact(query, view),
        literal=literal_passages(query, view, findable),
    )
