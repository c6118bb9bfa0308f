"""What late interaction costs, beside what `bench recall --rerank` says that it finds."""

import statistics
from collections.abc import Callable
from time import perf_counter

import numpy as np

from builder.bench.datasets import Dataset
from builder.domain.profile import Profile
from builder.pipeline.late import best_passages, reorder
from builder.service import ContextBuilder


async def cost(builder: ContextBuilder, dataset: Dataset, profile: Profile, step: Callable[[], None]) -> dict[str, float]:
    """Bytes of token vectors a message, and milliseconds of reading the best passages' and putting them in order anew.

    dataset: remembered already. step: called after each question, for a progress bar.
    """
    kept, rows, seconds = 0, 0, []
    for conversation in dataset.conversations:
        workspace = conversation.breadcrumbs[0].workspace
        for question in conversation.questions:
            query, view = await builder.recall_for(question.trigger, profile)
            best = best_passages(query, view, profile.retrieval, builder.ranker)
            began = perf_counter()
            held = await builder.token_vectors(workspace, view, best.passages)
            reorder(query, best, held, builder.ranker)
            seconds.append(perf_counter() - began)
            step()
        kept += sum(map(len, await builder.token_vectors(workspace, view, np.arange(view.passages))))
        rows += view.size
    ordered = sorted(1e3 * each for each in seconds)
    return {
        "bytes_per_message": round(kept / rows),
        "stage_ms_p50": round(statistics.median(ordered), 2),
        "stage_ms_p95": round(ordered[int(0.95 * (len(ordered) - 1))], 2),
    }
