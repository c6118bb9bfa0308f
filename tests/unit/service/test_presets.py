"""Each preset builds a page, and says what its source document says (RCRT's contracts, agent-llm-best-practices, promptkit)."""

import pytest

from builder.adapters.profiles.profiles import parse_profile
from builder.adapters.tokens import load_counter
from builder.app.config import load_library, read_layers, template_folders
from builder.app.settings import Settings
from builder.domain.profile import Profile
from tests.factories import ids_on_page, make_breadcrumb
from tests.hashing_embedder import HashingEmbedder
from tests.unit.service.test_service import make_builder

LIBRARY = load_library(read_layers(template_folders(Settings())))
PRESETS = sorted(LIBRARY.presets)


def preset(name: str) -> Profile:
    return parse_profile("mine", f"extends: {name}\n", LIBRARY)


@pytest.mark.parametrize("name", PRESETS)
async def test_every_preset_builds_a_page_within_its_budget(name: str) -> None:
    builder, profile = make_builder(HashingEmbedder()), preset(name)
    for sequence in range(1, 41):
        await builder.remember(make_breadcrumb(f"Remark {sequence} on the kiln and its glaze.", sequence))
    built = await builder.build(make_breadcrumb("Which glaze was it?", 50), (profile,))
    (context,) = built.contexts
    assert "Which glaze was it?" in context.markdown
    assert context.tokens == load_counter("o200k_base")(context.markdown) <= profile.allowance
    assert len(ids_on_page(context)) > 2


@pytest.mark.parametrize(
    ("name", "budget", "limits"),
    [
        ("conversational", 4000, {"user.message.v1": 5, "agent.response.v1": 3}),
        ("memory", 8000, {"user.message.v1": 10, "agent.response.v1": 8}),
        ("minimal", 2000, {"user.message.v1": 2, "agent.response.v1": 1}),
        ("rag", 8000, {"note.v1": 10, "knowledge.v1": 10, "tool.code.v1": 5}),
    ],
)
def test_the_four_presets_of_rcrt_have_its_numbers(name: str, budget: int, limits: dict[str, int]) -> None:
    profile = preset(name)
    assert profile.budget == budget
    assert limits.items() <= profile.retrieval.per_schema_limit.items()


def test_economy_has_half_the_room_and_pays_less_for_a_message() -> None:
    economy, default = preset("economy"), preset("default")
    assert (economy.budget, economy.summaries) == (default.budget // 2, None)
    assert economy.worth is not None
    assert default.worth is not None
    assert economy.worth < default.worth


def test_a_coding_agent_fills_its_page() -> None:
    assert preset("coding-agent").worth is None


def test_rag_searches_documents_and_of_people_only_those_who_are_named() -> None:
    profile = preset("rag")
    assert profile.retrieval.people == "named"
    assert {"note.v1", "knowledge.v1", "user.message.v1"} <= set(profile.retrieval.schemas)


@pytest.mark.parametrize("name", ["sliding", "director", "character"])
def test_a_sliding_window_trims_above_ten_to_the_last_five_and_searches_nothing(name: str) -> None:
    profile = preset(name)
    assert (profile.window.max_units, profile.window.trim_to) == (10, 5)
    assert (profile.retrieval.schemas, profile.summaries) == ((), None)


def test_the_director_keeps_the_last_task_header_and_the_character_no_anchor() -> None:
    header = preset("director").pinned[-1]
    assert (header.selector.all_tags, header.keep, header.section) == (("task:header",), "latest", "task")
    assert preset("character").pinned == ()


def test_relevance_keeps_three_and_what_is_alike_by_three_tenths() -> None:
    profile = preset("relevance")
    assert (profile.window.max_units, profile.window.trim_to, profile.retrieval.similarity_threshold) == (3, 3, 0.3)
    assert (profile.retrieval.query, profile.retrieval.per_schema_limit) == ("last_user", {})


def test_three_tiers_are_twenty_hot_five_found_and_summaries_of_ten_above_fifty() -> None:
    profile = preset("three_tier")
    assert (profile.window.trim_to, profile.retrieval.max_results, profile.retrieval.per_schema_limit) == (20, 5, {})
    assert profile.summaries is not None
    assert (profile.summaries.max_pending, profile.summaries.batch) == (50, 10)
    order = [rule.source for rule in profile.sections]
    assert order.index("summary") < order.index("retrieval") < order.index("window")


def test_presets_compose() -> None:
    both = parse_profile("mine", "extends: [coding-agent, three_tier]\n", LIBRARY)
    assert (both.budget, both.window.max_tool_turns, both.window.trim_to) == (16_000, None, 20)
