"""Late interaction from end to end on the bundled sample: kept, learned, used and accounted for."""

import tomllib
from dataclasses import replace

from builder.app import open_core
from builder.bench.datasets import load
from builder.bench.fit import examples, fit, to_toml
from builder.bench.late import cost
from builder.cli.measuring import late_interaction
from builder.pipeline.rank import MAX_SIM
from builder.settings import Embedding, Settings
from tests.models import prepared

SETTINGS = Settings(embedding=Embedding(models_dir=prepared().folder.parent))


def quiet() -> None:
    """No progress bar."""


async def test_late_interaction_is_learned_used_and_accounted_for() -> None:
    sample = load("sample")
    async with open_core(late_interaction(SETTINGS), ":memory:") as core:
        recall = core.profile("recall")
        asking = replace(recall, retrieval=replace(recall.retrieval, rerank=50))
        data = await examples(core.builder, sample, recall, quiet)
        learned = fit(data)
        report = await cost(core.builder, sample, asking, quiet)
        trigger = await core.builder.facts(sample.conversations[0].questions[0].trigger)
        (context,) = (await core.builder.answer(trigger, (asking,), learned)).contexts
    assert MAX_SIM in learned.late
    assert tomllib.loads(to_toml(learned, "2026-11-22", "sample"))["late"] == learned.late
    assert report["bytes_per_message"] > 384
    assert context.flags == ()


async def test_without_token_vectors_nothing_is_learned_about_them() -> None:
    async with open_core(SETTINGS, ":memory:") as core:
        learned = fit(await examples(core.builder, load("sample"), core.profile("recall"), quiet))
    assert learned.late == {}
    assert "[late]" not in to_toml(learned, "2026-11-22", "sample")
