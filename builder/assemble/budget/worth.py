"""How likely the answer needs something: what was found, and the newest part of the conversation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSITY, OFFSET, EXPONENT = 0.3, 50.0, 1.5
"""Messages that an answer needs, per token at a distance of T tokens from the question: 0.3 · (T + 50)^-1.5."""
GAIN = 1.5
"""More than one message is needed on the mean."""
CERTAINTY = 0.5
"""Power of the probability that anything answers."""
MANY = 10
"""Messages that an answer needs which is in many of them, about."""
_RATES = np.geomspace(1, 1e9, 91)
ALIKE = 0.4
"""Share of the words of both that two finds of a kind have in common."""
REPEATED = 0.2
"""Worth of a find, as a share, for each other one of its kind: what was said in one form many times is seldom asked for."""
DOUBTFUL = 0.02
"""Below which a find is doubted because of its kind: what is likely by itself is not."""
QUOTED = 0.4
"""In a follow-up, of what is found by words of the message before it."""
FOLLOW_UP = 2.0
"""In a follow-up, of the newest part."""


def worth_of_share(share: Doubles, answered: float) -> Doubles:
    """The worth of finds. share: of each passage in all that is found. answered: the probability that anything answers."""
    worth: Doubles = answered**CERTAINTY * GAIN * share / (1 + (GAIN - 1) * share)
    return worth


def worth_in_many(share: Doubles) -> Doubles:
    """The worth of finds where the answer is in many messages: the probability to be one of `MANY` that are drawn by share."""
    drawn = 1 - np.exp(-np.outer(_RATES, share))
    worth: Doubles = drawn[np.abs(drawn.sum(1) - MANY).argmin()]
    return worth


def density(distance: Doubles) -> Doubles:
    """Messages needed per token. distance: tokens between the question and the middle of an entry."""
    needed: Doubles = np.minimum(1.0, DENSITY * np.power(distance + OFFSET, -EXPONENT))
    return needed


def others_of_a_kind(patterns: Sequence[Ints]) -> Ints:
    """How many other finds are of the kind of each. patterns: numbers of the words of each, each once."""
    if not patterns:
        return np.zeros(0, np.int64)
    sizes = np.array([len(pattern) for pattern in patterns], np.int64)
    _, columns, counts = np.unique(np.concatenate(patterns), return_inverse=True, return_counts=True)
    numbers = np.cumsum(counts > 1) - 1  # what only one has is common to none
    is_common = counts[columns] > 1
    holds = np.zeros((len(patterns), 1 + int((counts > 1).sum())), np.float32)
    holds[np.repeat(np.arange(len(patterns)), sizes)[is_common], numbers[columns[is_common]]] = 1
    common = holds @ holds.T
    alike = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1) >= ALIKE
    np.fill_diagonal(alike, val=False)
    others: Ints = alike.sum(1)
    return others
