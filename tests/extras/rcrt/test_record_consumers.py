"""RCRT's records as profiles: what they say is laid over the default profile, and what cannot be followed is reported."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import Profile, RecordConsumers
from builder.domain.selector import Pinned, Selector, trigger_on
from builder.extras.rcrt.record_consumers import RecordProfiles
from tests.conversations import sent
from tests.examples import examples
from tests.factories import make_breadcrumb, make_profile

LIBRARY = load_library(read_layers((bundled_folder("templates"),)))
NAMES = frozenset({"default", "recall"})


def made(*records: tuple[str, dict[str, Any]], findings: list[LintFinding] | None = None) -> RecordConsumers:
    """The consumers of these schemas and bodies, the newest first."""
    rows = [
        sent(len(records) - number, schema, body, "_", id=f"r{number}").breadcrumb
        for number, (schema, body) in enumerate(records)
    ]
    return RecordProfiles(LIBRARY, NAMES, (findings if findings is not None else []).append)(tuple(rows))


def agent(**body: Any) -> tuple[str, dict[str, Any]]:
    return "agent.def.v1", {"agent_id": "a", "context_trigger": {"schema_name": "user.message.v1"}} | body


def config(**body: Any) -> tuple[str, dict[str, Any]]:
    return "context.config.v1", {"consumer_id": "a"} | body


def only(consumers: RecordConsumers) -> Profile:
    (profile,) = consumers.profiles
    return profile


def notes(consumers: RecordConsumers) -> dict[str, str]:
    return {finding.place.strip("`"): finding.problem for finding in consumers.findings}


def kinds(profile: Profile) -> list[tuple[Selector, Any]]:
    return [(pinned.selector, pinned.keep) for pinned in profile.pinned]


CATALOG = Pinned(selector=Selector(schemas=("tool.catalog.v1",)), keep="latest", section="")
DEBUGGER: dict[str, Any] = {
    "agent_id": "a",
    "llm_config_id": None,
    "system_prompt": "You mend tools.",
    "capabilities": {"can_create_breadcrumbs": True},
    "context_trigger": {"schema_name": "tool.error.v1", "any_tags": ["tool:error", "issue"], "comment": "Any failure."},
    "context_sources": {
        "always": [
            {
                "type": "schema",
                "schema_name": "tool.code.v1",
                "method": "all",
                "limit": 30,
                "optional": False,
                "reason": "Tools.",
            },
            {"type": "schema", "schema_name": "tool.rules.v1", "method": "latest", "limit": 1},
            {"type": "tag", "tag": "browser:active-tab", "method": "recent"},
        ],
        "semantic": {"enabled": True, "schemas": ["knowledge.v1", "tool.code.v1"], "limit": 3, "min_similarity": 0.7},
    },
    "subscriptions": {"selectors": [{"schema_name": "agent.context.v1", "all_tags": ["consumer:a"]}]},
    "ui_schema": {},
    "metadata": {},
}
"""An agent as RCRT ships them, in fewer words."""


def test_an_agent_of_rcrt_is_the_default_profile_with_its_trigger_its_sources_and_its_searches() -> None:
    consumers = made(("agent.def.v1", DEBUGGER))
    profile, default = only(consumers), make_profile()
    assert profile.triggers == (Selector(schemas=("tool.error.v1",), any_tags=("tool:error", "issue")),)
    assert kinds(profile) == [
        (CATALOG.selector, "latest"),
        (Selector(schemas=("tool.code.v1",)), 30),
        (Selector(schemas=("tool.rules.v1",)), "latest"),
        (Selector(any_tags=("browser:active-tab",)), "latest"),
    ]
    assert profile.retrieval.schemas == (*default.retrieval.schemas, "knowledge.v1", "tool.code.v1")
    assert profile.retrieval.per_schema_limit == {"knowledge.v1": 3, "tool.code.v1": 3}
    without_prompt = tuple(rule for rule in default.sections if rule.source != "system")
    assert (profile.budget, profile.sections, profile.summaries) == (default.budget, without_prompt, default.summaries)
    assert only(made(agent(context_builder={"budget": 4000}))).sections == default.sections
    assert consumers.origins == {"a": 'agent.def.v1 "r0" version 1'}
    assert notes(consumers).keys() == set()


CONFIG: dict[str, Any] = {
    "consumer_id": "a",
    "consumer_type": "agent",
    "sources": [
        {"schema_name": "user.message.v1", "method": "recent", "limit": 3, "filters": {"tag": "extension:chat"}},
        {"schema_name": "user.message.v1", "method": "vector", "nn": 5},
        {"schema_name": "agent.response.v1", "method": "recent", "limit": 2},
        {"schema_name": "agent.response.v1", "method": "vector", "nn": 3},
        {"schema_name": "tool.response.v1", "method": "recent", "limit": 3, "filters": {"context_match": [{"path": "$.a"}]}},
        {"schema_name": "tool.catalog.v1", "method": "latest", "filters": {"tag": "workspace:tools"}},
        {"schema_name": "note.v1", "method": "tagged", "filters": {"tag": "pinned"}, "limit": 4},
        {"schema_name": "guide.v1", "method": "all"},
    ],
    "update_triggers": [
        {"schema_name": "user.message.v1", "any_tags": ["user:message", "extension:chat"]},
        {"schema_name": "tool.response.v1", "context_match": [{"path": "$.requestedBy", "op": "eq", "value": "a"}]},
    ],
    "output": {"schema_name": "agent.context.v1", "tags": ["agent:context", "consumer:a"], "ttl_seconds": 3600},
    "formatting": {
        "max_tokens": 3000, "deduplication_threshold": 0.95, "include_metadata": False, "enable_summarization": False,
    },
    "metadata": {},
    "ui_config": {},
}  # fmt: skip
"""As the dashboard of RCRT writes it."""


def test_a_configuration_of_the_dashboard_is_a_profile_and_each_part_that_is_not_followed_is_named() -> None:
    consumers = made(("context.config.v1", CONFIG))
    profile = only(consumers)
    assert profile.budget == 3000
    assert profile.triggers == (
        Selector(schemas=("user.message.v1",), any_tags=("user:message", "extension:chat")),
        trigger_on("tool.response.v1"),
    )
    assert (profile.window.trim_to, profile.window.max_units, profile.window.max_tool_turns) == (5, 10, 3)
    assert profile.retrieval.per_schema_limit == {"user.message.v1": 5, "agent.response.v1": 3}
    assert kinds(profile) == [
        (CATALOG.selector, "latest"),
        (Selector(schemas=("tool.catalog.v1",), all_tags=("workspace:tools",)), "latest"),
        (Selector(schemas=("note.v1",), all_tags=("pinned",)), 4),
        (Selector(schemas=("guide.v1",)), "all"),
    ]
    assert notes(consumers).keys() == {
        "sources.0.filters.tag",
        "sources.4.filters.context_match",
        "update_triggers.1.context_match",
    }
    assert all(finding.severity == "note" for finding in consumers.findings)


@pytest.mark.parametrize(
    ("trigger", "tags", "asks"),
    [
        ({"any_tags": ["x"], "all_tags": ["a", "b"]}, ("a", "b"), True),
        ({"any_tags": ["x"], "all_tags": ["a", "b"]}, ("x",), False),
        ({"any_tags": ["x"], "all_tags": []}, (), True),
        ({"any_tags": ["x", "y"]}, ("y",), True),
        ({"any_tags": ["x", "y"], "none_tags": ["n"]}, ("y", "n"), False),
        ({"all_tags": ["a"], "none_tags": ["n"]}, ("a", "n"), False),
        ({"any_tags": None, "none_tags": None}, (), True),
    ],
)
def test_what_triggers_an_agent_in_rcrt_triggers_it_here(trigger: dict[str, Any], tags: tuple[str, ...], asks: bool) -> None:
    profile = only(made(agent(context_trigger={"schema_name": "user.message.v1", **trigger})))
    assert profile.is_triggered_by(make_breadcrumb(tags=tags)) is asks


def test_a_configuration_wins_for_what_it_says_and_settings_of_ours_win_over_both() -> None:
    definition = agent(context_builder={"budget": 1000, "sections": {"relevant": {"min_share": 0.3}}}, system_prompt="You help.")
    one = only(made(definition))
    assert (one.budget, next(rule.min_share for rule in one.sections if rule.name == "relevant")) == (1000, 0.3)
    both = only(made(definition, config(formatting={"max_tokens": 2000}, update_triggers=["note.v1"])))
    assert (both.budget, both.triggers) == (2000, (trigger_on("note.v1"),))
    assert next(rule.min_share for rule in both.sections if rule.name == "relevant") == 0.3
    ours = only(made(definition, config(formatting={"max_tokens": 2000}, context_builder={"budget": 3000, "extends": "rag"})))
    assert (ours.budget, ours.retrieval.scope) == (3000, "workspace")


def test_the_revision_of_a_consumer_is_that_of_its_records_and_of_the_default_profile() -> None:
    one, other = only(made(agent())), only(made(agent()))
    assert one.revision == other.revision
    rows = sent(1, "agent.def.v1", agent()[1], "_", id="r0", version=2).breadcrumb
    (newer,) = RecordProfiles(LIBRARY, NAMES, list[LintFinding]().append)((rows,)).profiles
    assert newer.revision != one.revision
    assert newer.triggers == one.triggers


def test_a_record_extends_a_profile_of_ones_own() -> None:
    library = replace(LIBRARY, profiles={**LIBRARY.profiles, "desk": "extends: default\nbudget: 700\nreserve: 20\n"})
    row = sent(1, *agent(context_builder={"extends": "desk", "reserve": 9}), "_", id="r1").breadcrumb
    (profile,) = RecordProfiles(library, NAMES | {"desk"}, list[LintFinding]().append)((row,)).profiles
    assert (profile.consumer, profile.budget, profile.reserve) == ("a", 700, 9)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (agent(context_trigger={}), "context_trigger names no schema_name"),
        (agent(context_trigger=[1]), "input should be an object, got a list of 1"),
        (agent(context_trigger={"schema_name": "a.v1", "any_tags": 7}), "input should be a valid array, got a number"),
        (agent(context_sources={"always": [{"type": "tag"}]}), "context_sources.always.0 has type: tag and names no tag"),
        (agent(context_builder={"budgte": 3}), "there is no setting 'budgte'"),
        (agent(context_builder={"extends": "nobody"}), "it extends 'nobody', and no preset or profile has this name"),
        (agent(context_builder={"sections": {"nowhere": {}}}), "no section has this name"),
        (agent(context_trigger={"schema_name": "secret.v1"}), "secret.v1 is never shown"),
        (agent(agent_id="a b"), "consumer 'a b' does not fit a NATS subject"),
        (config(formatting={"max_tokens": 1}), "1 is too small"),
        (config(sources=[{"method": "latest"}]), "sources.0 names neither a schema_name nor filters.tag"),
        (config(sources=[{"method": "vector"}]), "sources.0 names no schema_name"),
        (config(consumer_id=7), "consumer '' does not fit a NATS subject"),
        (config(update_triggers=[{}]), "it names no schema, id or tag"),
    ],
)
def test_a_record_that_cannot_be_understood_makes_no_consumer_and_says_why(
    record: tuple[str, dict[str, Any]], problem: str
) -> None:
    reports: list[LintFinding] = []
    sound = ("agent.def.v1", {"agent_id": "sound", "context_trigger": {"schema_name": "note.v1"}})
    consumers = made(sound, record, findings=reports)
    assert [profile.consumer for profile in consumers.profiles] == ["sound"]
    (finding,) = consumers.findings
    assert finding.problem == problem
    assert finding.severity == "error"
    assert finding.file == f'{record[0]} "r1" version 1'
    assert reports == [finding]


def test_an_agent_that_says_nothing_of_its_context_makes_no_consumer_and_needs_no_report() -> None:
    assert made(agent(context_trigger=None, system_prompt="You help.")) == RecordConsumers()


def test_a_profile_file_wins_over_a_record_and_a_newer_record_over_an_older_one() -> None:
    consumers = made(agent(agent_id="default"), agent(context_builder={"budget": 900}), agent(context_builder={"budget": 800}))
    assert [(profile.consumer, profile.budget) for profile in consumers.profiles] == [("a", 900)]
    assert [finding.problem for finding in consumers.findings] == [
        "agent.def.v1 \"r1\" version 1 is newer and defines 'a' too",
        "profiles/default.yaml makes the consumer 'default', so the record does not",
    ]


def test_a_finding_is_reported_once_whatever_is_defined_beside_it() -> None:
    reports: list[LintFinding] = []
    profiles = RecordProfiles(LIBRARY, NAMES, reports.append)
    broken = sent(1, *agent(context_trigger={}), "_", id="r0").breadcrumb
    other = sent(2, "agent.def.v1", {"agent_id": "b", "context_trigger": {"schema_name": "note.v1"}}, "_").breadcrumb
    for definitions in ((broken,), (other, broken), (broken,)):
        profiles(definitions)
    profiles.forget()
    profiles((broken,))
    assert len(reports) == 1


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 500), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
KEYS = st.text(max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)))
FIELDS = (
    "context_trigger", "context_sources", "context_builder", "sources", "update_triggers", "formatting", "output",
    "llm_config_id",
)  # fmt: skip
INNER = (
    "schema_name", "any_tags", "all_tags", "none_tags", "always", "semantic", "type", "tag", "method", "limit", "nn", "filters",
    "enabled", "schemas", "budget", "extends", "sections", "pinned", "max_tokens", "window", "retrieval", "triggers",
)  # fmt: skip
WORDS = st.one_of(VALUES, st.sampled_from(["schema", "latest", "user.message.v1", "default", "rag"]))
PARTS = st.dictionaries(st.sampled_from(INNER), st.one_of(WORDS, st.lists(WORDS, max_size=2)), max_size=4)
BODIES = st.dictionaries(st.sampled_from(FIELDS), st.one_of(VALUES, PARTS, st.lists(PARTS, max_size=2)), max_size=5)


@examples(300)
@given(agents=BODIES, configs=BODIES)
def test_no_body_whatever_it_holds_disturbs_the_other_consumers(agents: dict[str, Any], configs: dict[str, Any]) -> None:
    sound = ("agent.def.v1", {"agent_id": "sound", "context_trigger": {"schema_name": "note.v1"}})
    consumers = made(sound, ("agent.def.v1", {"agent_id": "a", **agents}), ("context.config.v1", {"consumer_id": "a", **configs}))
    assert "sound" in consumers.origins
    assert all(finding.problem and finding.fix for finding in consumers.findings)


def test_a_record_that_chooses_a_hint_or_a_page_that_does_not_exist_makes_no_consumer() -> None:
    for settings, problem in (
        ({"hints": {"user.message.v1": "../../x"}}, "hints/../../x.md.j2 does not exist"),
        ({"page": "fancy"}, "pages/fancy.md.j2 does not exist"),
    ):
        consumers = made(agent(context_builder=settings))
        assert consumers.profiles == ()
        assert [finding.problem for finding in consumers.findings] == [problem]
