"""`bench recall --ablate`: what each signal of the fusion is worth, with the others' weights learned again without it."""

from collections.abc import Callable, Sequence
from typing import Any

from builder.bench.data.datasets import Dataset
from builder.bench.quality.fit import Example, leave_one_out
from builder.bench.quality.recall import run as recall
from builder.domain.errors import Misconfigured
from builder.domain.profile import Profile
from builder.recall.search.ranking import SIGNALS
from builder.service import ContextBuilder

MEASURES = ("evidence_any", "evidence_all", "evidence_mean")
RUNS = 1 + len(SIGNALS)
"""All signals, and all but one."""


async def run(
    builder: ContextBuilder,
    dataset: Dataset,
    profile: Profile,
    budgets: tuple[int, ...],
    data: Sequence[Example],
    step: Callable[[], None],
) -> dict[str, Any]:
    """Recall with all signals, and for each signal how much of it that signal adds, by budget.

    data: what the weights are learned from; the conversation under test is left out each time. step: called as by `recall`,
    `RUNS` times over. Raises `Misconfigured` when nothing is left to learn from.
    """
    if len({example.session for example in data}) < 2:  # noqa: PLR2004 - one to ask and one to learn from
        raise Misconfigured(f"{dataset.name} is one conversation, which leaves none to learn from; name others with --fit-on")

    async def measured(without: str = "") -> dict[str, dict[str, float]]:
        report = await recall(builder, dataset, profile, budgets, step, leave_one_out(data, without))
        return {budget: {name: row[name] for name in MEASURES} for budget, row in report["budgets"].items()}

    everything = await measured()
    gains = {name: _gain(everything, await measured(name)) for name in SIGNALS}
    return {
        "dataset": dataset.name,
        "questions": dataset.question_count,
        "everything": everything,
        "gains": gains,
    }


def _gain(everything: dict[str, dict[str, float]], without: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        budget: {name: round(value - without[budget][name], 4) for name, value in row.items()}
        for budget, row in everything.items()
    }
