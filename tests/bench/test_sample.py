"""The bundled sample guards recall, and the benches print what they promise."""

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from builder.app.broker import IN_MEMORY, location
from builder.app.components import Components, Parts, open_components
from builder.app.settings import Settings
from builder.bench.data.datasets import load
from builder.bench.quality import prefix, recall, tokens
from builder.recall.histories import HistoryCache
from builder.service import ContextBuilder
from tests.models import open_shared
from tests.stores import durable_store


def quiet() -> None:
    """No progress bar."""


def opened() -> AbstractAsyncContextManager[Components]:
    """With the model that all tests of the process share."""
    return open_components(Settings(), location(IN_MEMORY), parts=Parts(embedder=open_shared))


async def test_most_evidence_of_the_sample_is_on_a_page_of_1000_tokens() -> None:
    async with opened() as core:
        report = await recall.run(core.builder, load("sample"), core.profile("recall"), (500, 1000, 2000), quiet)
    assert report["questions"] == 20
    assert report["budgets"]["1000"]["evidence_any"] >= 0.9
    assert report["budgets"]["1000"]["evidence_all"] >= 0.8
    assert report["budgets"]["2000"]["evidence_all"] >= 0.95
    assert all(found["tokens_max"] <= int(budget) for budget, found in report["budgets"].items())


async def test_the_order_of_questions_does_not_change_the_result() -> None:
    dataset = load("sample")
    (conversation,) = dataset.conversations
    few = conversation.questions[:6]
    asked = replace(dataset, conversations=(replace(conversation, questions=few),))
    turned = replace(dataset, conversations=(replace(conversation, questions=few[::-1]),))
    reports = []
    async with opened() as core:
        for questions in (asked, turned):
            builder = ContextBuilder(durable_store(), core.embedder, core.profiles, core.helpers, HistoryCache(10_000))
            reports.append(await recall.run(builder, questions, core.profile("recall"), (500,), quiet))
    assert reports[0]["budgets"] == reports[1]["budgets"]
    assert reports[0]["by_category"] == reports[1]["by_category"]


async def test_the_question_itself_is_no_evidence() -> None:
    (conversation,) = load("sample").conversations
    crumb = conversation.breadcrumbs[4]
    page = f"## Current User Message\n- User: {crumb.text}\n"
    assert recall.recalled(crumb, recall.without_question(page, "something else"))
    assert not recall.recalled(crumb, recall.without_question(page, crumb.text))


async def test_tokens_are_counted_against_three_baselines_at_equal_evidence() -> None:
    async with opened() as core:
        report = await tokens.run(core, load("sample"), core.profile("default"), (300, 4000), lambda: None)
    assert len(report["baselines"]) == 3
    assert report["budgets"]["300"]["tokens_max"] <= 300
    assert report["equal"]["evidence_all"] >= report["baselines"]["last 20 as text"]["evidence_all"] > 0
    assert report["equal"]["saved against last 20 as pretty JSON with the catalog"] >= 0.85
    assert json.dumps(report)


async def test_most_of_a_page_for_a_prompt_cache_is_what_the_page_before_began_with() -> None:
    """Questions say nothing of that, so two are enough."""
    sample = load("sample")
    (conversation,) = sample.conversations
    sample = replace(sample, conversations=(replace(conversation, questions=conversation.questions[:2]),))
    async with opened() as core:
        mine = core.preset("cached")
        report = await prefix.run(core, sample, {"mine": mine, "naive": prefix.naive(mine)}, 7, lambda: None)
    assert report["orders"]["mine"]["reused_median"] > 10 * report["orders"]["naive"]["reused_median"]
    assert report["orders"]["mine"]["steps"] == 6
    assert json.dumps(report)
