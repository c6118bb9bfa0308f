"""The benchmarks measure what they say."""

import json
from dataclasses import replace

import pytest

from builder.app.broker import IN_MEMORY, location
from builder.app.components import Parts, open_components
from builder.app.service import open_service, serving
from builder.app.settings import EmbeddingSettings, HttpSettings, NatsSettings, Settings
from builder.bench.data.datasets import load as read
from builder.bench.data.datasets import of_one_person, remember
from builder.bench.quality import vectors
from builder.bench.scratch import open_encoder
from builder.bench.speed import load, memory
from builder.domain.errors import Misconfigured
from tests.models import MODELS_DIR, open_shared, prepared

PARTS = Parts(embedder=open_shared)
"""With the model that all tests of the process share."""


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    prepared()
    folder = tmp_path_factory.mktemp("bench")
    return Settings(
        data_dir=folder, nats=NatsSettings(port=-1), http=HttpSettings(port=0), embedding=EmbeddingSettings(models_dir=MODELS_DIR)
    )


def quiet() -> None:
    """No progress bar."""


async def test_load_counts_everything_that_it_sent(settings: Settings) -> None:
    sizes = load.Sizes(slice=20, triggers=3, paced=40)
    encoder = await open_encoder(settings)
    try:
        async with open_service(settings) as service, serving(service):
            report = await load.run(service, encoder, 0.0, 4, quiet, sizes)
            assert await service.core.store.count() == report["messages"] + 23  # the first slice warms up
            contexts = (await service.js.stream_info("CONTEXTS")).state.messages
    finally:
        await encoder.aclose()
    assert contexts == (report["slices"] + 1) * (1 + 3) + 2
    assert 0 < report["event_to_context_p50_ms"] <= report["event_to_context_p99_ms"] <= report["event_to_context_longest_ms"]
    assert json.dumps(report)


async def test_memory_asks_every_session_of_the_store(settings: Settings) -> None:
    async with open_components(settings, location(IN_MEMORY), parts=PARTS) as core:
        await memory.fill(core, 40, 4, quiet)
        report = await memory.ask(core, 40, 4, quiet)
        assert await core.store.count() == 44
    assert 0 < report["resident_mb"] <= report["peak_mb"] * 1.01


async def test_one_conversation_alone_cannot_be_ablated(settings: Settings) -> None:
    from builder.bench.quality.examples import examples  # noqa: PLC0415 - imports scipy
    from builder.bench.quality.fit import ablation  # noqa: PLC0415 - the same

    async with open_components(settings, location(IN_MEMORY), parts=PARTS) as core:
        (conversation,) = (sample := read("sample")).conversations
        begun = replace(conversation, breadcrumbs=conversation.breadcrumbs[:40], questions=conversation.questions[:3])
        sample = replace(sample, conversations=(begun,))
        data = await examples(core.builder, (sample,), core.profile("recall"), quiet)
        with pytest.raises(Misconfigured, match="--fit-on"):
            await ablation(core.builder, sample, core.profile("recall"), (500,), data, quiet)


async def test_plain_vector_search_holds_the_evidence_of_the_nearest_messages_and_keeps_to_its_budget(settings: Settings) -> None:
    async with open_components(settings, location(IN_MEMORY), parts=PARTS) as core:
        report = await vectors.run(core, read("sample"), (100, 500), quiet)
    small, large = report["budgets"].values()
    assert small["tokens_max"] <= 100 < large["tokens_max"] <= 500
    assert 0 < small["evidence_any"] <= large["evidence_any"] <= 1


async def test_a_conversation_and_the_sessions_of_one_person_fit_into_one_store(settings: Settings) -> None:
    """The weights are learned from the one before the other is measured."""
    dataset = read("sample")
    async with open_components(
        settings.model_copy(update={"embedding": EmbeddingSettings(engine="none")}), location(IN_MEMORY)
    ) as core:
        for form in (dataset, of_one_person(dataset)):
            for conversation in form.conversations:
                await remember(core.builder, conversation, quiet)
        assert await core.store.count() == 2 * dataset.messages
