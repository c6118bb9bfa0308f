"""Which reports of usage size the page, through the whole line: bytes in, contexts out, on each store."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from builder.domain.profile import Profile
from builder.domain.usage import MIN_TOKENS, NEWEST_REPORTS
from builder.recall.calibration import MIN_REPORTS
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing
from tests.factories import MORNING, make_breadcrumb, make_place, make_profile
from tests.memory_store.store import MemoryStore
from tests.stores import AnyStore, durable_store
from tests.summarised import make_builder

OWN = 0.1
FIFTH_MORE = pytest.approx(1 - 1 / 1.2)
Report = dict[str, Any]
Store = AnyStore
WORKSPACES = (f"w{number}" for number in count())


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else durable_store()
    yield opened
    opened.close()


def asking(model: str = "gpt-4o") -> Profile:
    return make_profile(consumer=model, margin=OWN, calibrate=model)


def report(used: int, model: str = "gpt-4o", counted: int = 1000, session: str = "_", **record: Any) -> Report:
    body = {"model": model, "counted": counted, "used": used}
    return make_record("agent.usage.v1", "", session, body) | record


async def margins(store: Store, reports: list[Report], *profiles: Profile) -> list[float]:
    """Of the pages of session s42, in a new workspace after these reports, oldest first."""
    builder, workspace = make_builder(store), next(WORKSPACES)
    for number, record in enumerate(reports, 1):
        event = outgoing({"tags": [], **record, "id": f"u{number}"}, workspace)
        await builder.remember(decode(event.arrive(make_place(number), MORNING)))
    trigger = await builder.ingest.facts(make_breadcrumb("And what now?", 900, workspace=workspace))
    return [context.margin for context in (await builder.build_contexts(trigger, profiles or (asking(),))).contexts]


async def test_one_report_of_the_whole_prompt_sizes_nobodys_page(store: Store) -> None:
    assert await margins(store, [*[report(1100)] * 4, report(9000)]) == [OWN]
    assert await margins(store, [report(9000), *[report(1200)] * 5, report(400)]) == [FIFTH_MORE]


async def test_one_report_that_a_tokenizer_might_have_made_sizes_nobodys_page(store: Store) -> None:
    assert await margins(store, [*[report(1200)] * (MIN_REPORTS - 1), report(1900)]) == [FIFTH_MORE]


@pytest.mark.parametrize(
    "name", ["gpt-4o-2024-08-06", "openai/gpt-4o", "azure/gpt-4o@2024-08-06", "gpt-4o:latest", "gpt-4o-latest"]
)
async def test_a_dated_version_and_a_name_behind_a_provider_are_the_same_model(store: Store, name: str) -> None:
    assert await margins(store, [report(1200, name)] * MIN_REPORTS) == [FIFTH_MORE]


@pytest.mark.parametrize("other", ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini", "claude-sonnet-4", "gpt-4"])
async def test_however_many_reports_about_another_model_push_none_out(store: Store, other: str) -> None:
    assert await margins(store, [*[report(1200)] * MIN_REPORTS, *[report(1900, other)] * 5 * NEWEST_REPORTS]) == [FIFTH_MORE]


async def test_however_many_reports_about_tiny_pages_push_none_out(store: Store) -> None:
    tiny = [report(MIN_TOKENS - 1, counted=MIN_TOKENS - 1), report(60, counted=20), report(9000, counted=MIN_TOKENS - 1)]
    assert await margins(store, [*[report(1200)] * MIN_REPORTS, *tiny * 2 * NEWEST_REPORTS]) == [FIFTH_MORE]
    large = [report(MIN_TOKENS, counted=MIN_TOKENS)] * NEWEST_REPORTS
    assert await margins(store, [*[report(1200)] * MIN_REPORTS, *large]) == [0]


async def test_however_many_reports_that_no_tokenizer_can_have_made_push_none_out(store: Store) -> None:
    wrong = [report(2001), report(499), report(10, counted=100_000)]
    assert await margins(store, [*[report(1200)] * MIN_REPORTS, *wrong * 2 * NEWEST_REPORTS]) == [FIFTH_MORE]


async def test_a_tag_does_not_make_a_report_one_about_another_model_nor_one_that_counts(store: Store) -> None:
    tags = ["model:gpt-4o"]
    forged = [report(1900, "claude-sonnet-4", tags=tags), report(99, counted=99, tags=tags)]
    assert await margins(store, [*[report(1200)] * MIN_REPORTS, *forged * 2 * NEWEST_REPORTS]) == [FIFTH_MORE]


async def test_the_newest_twenty_about_the_model_count(store: Store) -> None:
    older = [report(1900)] * 2
    mixed = [one for _ in range(NEWEST_REPORTS - 1) for one in (report(1200), report(1900, "gpt-4o-mini"))]
    assert await margins(store, [*older, *mixed]) == [FIFTH_MORE]
    assert await margins(store, [*older, *mixed[2:]]) == [pytest.approx(1 - 1 / 1.9)]


async def test_consumers_of_different_models_are_sized_by_their_own(store: Store) -> None:
    both = [*[report(1200)] * 30, *[report(1500, "gpt-4o-mini")] * 30, *[report(1100, session="elsewhere")] * 30]
    profiles = asking(), asking("gpt-4o-mini"), asking("gpt-4"), asking("gpt-5")
    assert await margins(store, both, *profiles) == [FIFTH_MORE, pytest.approx(1 / 3), OWN, OWN]


async def test_reports_of_the_triggers_session_and_of_none_count_those_of_another_do_not(
    store: Store,
) -> None:
    assert await margins(store, [*[report(1200)] * 3, *[report(1200, session="s42")] * 2]) == [FIFTH_MORE]
    assert await margins(store, [report(1900, session="s43")] * MIN_REPORTS) == [OWN]
