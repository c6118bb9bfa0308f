"""Profile files: what an author may write, and how a mistake is explained."""

import copy
import re
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from builder.adapters.profiles.profiles import Library, known_name, parse_models, parse_profile
from builder.app.config import bundled_folder
from builder.domain.errors import Misconfigured
from builder.domain.page_settings import FORBIDDEN_SCHEMAS
from builder.domain.selector import trigger_on
from tests.chat_copies import FORMAT_OF
from tests.factories import latest_of

LEAST: dict[str, Any] = {
    "retrieval": {"schemas": ["user.message.v1"]},
    "sections": [
        {"name": "recent", "title": "Recent Conversation", "source": "window"},
        {"name": "current", "title": "Current User Message", "source": "trigger"},
    ],
}
BUNDLED = {file.stem: file.read_text("utf-8") for file in sorted((bundled_folder("templates") / "profiles").glob("*.yaml"))}


ONE_TRIGGER = (
    ": exactly one section has source: trigger (the current message), and nothing but reminders comes after it; mend sections"
)


def changed(path: str, value: Any) -> str:
    """The smallest profile with one value set, as YAML. path: steps joined by slashes."""
    profile = copy.deepcopy(LEAST)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("/"))
    here: Any = profile
    for step in steps:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    here[last] = value
    return yaml.safe_dump(profile)


def mistake(source: str, name: str = "mine") -> str:
    with pytest.raises(Misconfigured) as caught:
        parse_profile(name, source)
    return str(caught.value)


@pytest.mark.parametrize("name", [name for name in BUNDLED if "extends:" not in BUNDLED[name]])
def test_every_bundled_profile_parses_under_its_file_name(name: str) -> None:
    profile = parse_profile(name, BUNDLED[name])
    assert profile.consumer == name
    assert profile.sections[-1].source == "trigger"


def test_the_default_profile_is_the_one_that_the_design_promises() -> None:
    profile = parse_profile("default", BUNDLED["default"])
    assert (profile.triggers, profile.budget, profile.reserve) == ((trigger_on("user.message.v1"),), 4000, 0)
    assert (profile.encoding, profile.pinned) == ("o200k_base", (latest_of("tool.catalog.v1"),))
    window = profile.window
    assert (window.max_units, window.max_tool_turns) == (None, None)
    assert profile.retrieval.similarity_threshold == 0
    assert profile.retrieval.per_schema_limit == {}
    assert profile.worth == 50_000
    names = ["role", "tools", "summary", "memory", "instructions", "conversation", "elsewhere", "current"]
    assert [section.name for section in profile.sections] == names
    assert [section.name for section in profile.sections if section.dates != "none"] == [
        "memory", "conversation", "elsewhere", "current",
    ]  # fmt: skip


def test_what_an_author_leaves_out_has_the_documented_default() -> None:
    profile = parse_profile("mine", yaml.safe_dump(LEAST))
    assert (profile.triggers, profile.page, profile.encoding, profile.pinned) == ((), "default", "o200k_base", ())
    assert (profile.budget, profile.reserve, profile.allowance) == (4000, 0, 4000)
    assert (profile.window.max_units, profile.window.trim_to, profile.window.max_tool_turns) == (None, 10, None)
    role, first, _ = profile.sections
    assert (role.source, role.section_class) == ("system", "static")
    assert (first.section_class, first.min_share, first.max_share, first.dates) == ("turn", 0, 1, "day")


def test_settings_arrive_where_they_belong() -> None:
    assert parse_profile("mine", changed("window/max_units", 20)).window.max_units == 20
    assert parse_profile("mine", changed("window/max_tool_turns", 7)).window.max_tool_turns == 7
    assert parse_profile("mine", changed("reserve", 500)).allowance == 3500
    assert parse_profile("mine", changed("sections/0/class", "static")).sections[1].section_class == "static"
    assert parse_profile("mine", changed("retrieval/min_probability", 0.01)).retrieval.min_probability == 0.01
    assert parse_profile("mine", changed("retrieval/per_schema_limit", {"note.v1": 2})).retrieval.per_schema_limit == {
        "note.v1": 2
    }


def test_the_revision_changes_with_every_byte_of_the_file() -> None:
    source = yaml.safe_dump(LEAST)
    assert parse_profile("mine", source).revision == parse_profile("yours", source).revision
    assert parse_profile("mine", source).revision != parse_profile("mine", source + "# why\n").revision


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("budget", "lots", ' line 1: `budget`: "lots" is not a whole number; write a whole number'),
        ("budget", 15, " line 1: `budget`: 15 is too small; write at least 16"),
        ("budget", 2000001, " line 1: `budget`: 2000001 is too large; write at most 2,000,000"),
        ("reserve", 4000, " line 1: `reserve`: reserve is 4000 and margin 0 of a budget of 4000; leave room for the page"),
        (
            "encoding",
            "p50k_base",
            ' line 1: `encoding`: "p50k_base" is not allowed; write o200k_base; allowed are o200k_base, cl100k_base',
        ),
        ("budgett", 4000, " line 1: `budgett`: there is no setting 'budgett'; write budget"),
        (
            "triggers",
            "user.message.v1",
            ' line 11: `triggers`: "user.message.v1" is not a list in brackets; write [user.message.v1]',
        ),
        ("window", {"max_units": 20, "trim_to": 21}, " line 11: `window`: trim_to is 21 but max_units is 20; lower trim_to"),
        ("retrieval", None, " line 1: `retrieval`: null is not a mapping; write a mapping: {setting: value}"),
        (
            "retrieval/schemas",
            None,
            " line 2: `retrieval.schemas`: null is not a list in brackets; write a list in brackets: [one, two]",
        ),
        (
            "retrieval/per_schema_limit",
            {"note.v1": "few"},
            ' line 3: `retrieval.per_schema_limit.note.v1`: "few" is not a whole number; write a whole number',
        ),
        ("sections", [], " line 4: `sections`: it is empty; write one at least"),
        (
            "sections/0/source",
            "memories",
            (
                ' line 6: section `recent`, `source`: "memories" is not allowed; write memory; allowed are system, pinned, '
                "summary, memory, instructions, window, conversation, elsewhere, turn, retrieval, reminder, trigger"
            ),
        ),
        (
            "sections/0/class",
            "never",
            ' line 5: section `recent`, `class`: "never" is not allowed; use one of static, slow, turn',
        ),
        ("sections/0/max_share", 0, " line 5: section `recent`, `max_share`: 0 is too small; write more than 0"),
        ("sections/1/name", "recent", ": two sections have the same name; rename one"),
        ("sections/0/source", "trigger", ONE_TRIGGER),
        ("sections/1/source", "window", ONE_TRIGGER),
        ("sections/0", {"title": "x", "source": "window"}, " line 5: section number 1, `name`: it is missing; add it"),
    ],
)
def test_a_mistake_has_the_file_the_line_the_place_by_name_and_what_to_write(path: str, value: Any, message: str) -> None:
    assert mistake(changed(path, value)) == f"profiles/mine.yaml{message}"


def test_a_format_that_no_installed_extra_brings_is_named_with_those_that_there_are_and_what_to_install() -> None:
    fix = "or install the package that brings it (`make up` in a clone, for ours)"
    unknown = f"profiles/mine.yaml line 1: `chat_format`: no installed extra brings 'gemini'; use one of none, {fix}"
    assert mistake(changed("chat_format", "gemini")) == unknown
    with pytest.raises(Misconfigured, match="use one of anthropic, none, openai, responses, or install the package"):
        parse_profile("mine", changed("chat_format", "gemini"), Library(formats=FORMAT_OF))
    with pytest.raises(Misconfigured, match="no installed extra brings 'openia'; write openai, or install the package"):
        parse_profile("mine", changed("chat_format", "openia"), Library(formats=FORMAT_OF))
    assert mistake(changed("chat_format", 7)).endswith("7 is not a text; write a text")


def test_a_format_of_an_extra_is_the_profile_s() -> None:
    formats = Library(formats=FORMAT_OF)
    for name, page_format in FORMAT_OF.items():
        assert parse_profile("mine", changed("chat_format", name), formats).chat_format is page_format


def test_a_floor_above_its_ceiling_is_a_mistake() -> None:
    section = {"name": "recent", "title": "Recent", "source": "window", "min_share": 0.5, "max_share": 0.3}
    reason = "section `recent`: min_share is 0.5 but max_share is 0.3; lower min_share"
    assert reason in mistake(changed("sections/0", section))


@pytest.mark.parametrize("schema", sorted(FORBIDDEN_SCHEMAS))
@pytest.mark.parametrize("path", ["retrieval/schemas", "pinned", "triggers"])
def test_secrets_and_our_own_contexts_can_never_be_switched_on(schema: str, path: str) -> None:
    assert schema in mistake(changed(path, ["user.message.v1", schema]))


def test_secrets_are_among_what_is_never_shown() -> None:
    assert {"secret.v1", "agent.context.v1"} <= FORBIDDEN_SCHEMAS
    assert "secret.v1 is never shown; take it out" in mistake(changed("retrieval/schemas", ["secret.v1"]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "",
            (
                ": `retrieval`: it is missing; write `extends: default` to change the default profile, or add it (and 1 "
                "more: context-builder profiles lint)"
            ),
        ),
        ("- a\n- b\n", ": it is a list, not a mapping of settings; mend it"),
        ("just text", ": it is a str, not a mapping of settings; mend it"),
        ("budget: [1, 2", " line 1: a bracket or a brace is not closed, or a comma is missing; add it"),
        ("a: b: c", " line 1: a colon is where none can be; indent like the lines around, or quote the value"),
        ("budget: !!python/object:os.system {}", " line 1: it has a tag (!!…), and none is taken; write a plain value"),
        ("budget: 2024-13-45", ": month must be in 1..12; mend it"),
        ("budget: " + "9" * 5000, " line 1: " + "9" * 30 + " is no plain number; write one of few digits, or a text in quotes"),
        ("budget: " + "[" * 5000 + "]" * 5000, ": it is nested too deeply; write it flatter"),
        ("budget: \x00", " line 1: it has a control character; take it out"),
    ],
)
def test_a_file_that_is_no_profile_is_misconfigured_with_its_name(source: str, message: str) -> None:
    assert mistake(source) == f"profiles/mine.yaml{message}"


@pytest.mark.parametrize("name", ["my agent", "my.agent", "", "ä", "x" * 129])
def test_a_file_name_that_does_not_fit_a_subject_is_misconfigured(name: str) -> None:
    assert f"profiles/{name}.yaml: profile name {name[:140]!r} does not fit" in mistake(yaml.safe_dump(LEAST), name)


def test_a_profile_names_the_zone_of_times_without_an_offset() -> None:
    assert parse_profile("mine", changed("time_zone", "Europe/Berlin")).time_zone == ZoneInfo("Europe/Berlin")
    assert parse_profile("mine", yaml.safe_dump(LEAST)).time_zone is UTC


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("europe/berlin", "write Europe/Berlin"),
        ("Europe/Berln", "write Europe/Berlin"),
        ("Europe", "write a name such as Europe/Berlin|write Europe/.*"),
        ("../../etc/passwd", "write a name such as Europe/Berlin"),
        ("posix/UTC", "write .*"),
        ("", "write a name such as Europe/Berlin"),
    ],
)
def test_a_zone_that_nobody_knows_is_named_with_what_to_write(name: str, hint: str) -> None:
    said = mistake(changed("time_zone", name))
    assert re.search(rf"time_zone is '.*', which no time zone is called; ({hint})", said)


def test_the_longest_known_name_of_which_a_model_is_a_version_is_its_own() -> None:
    names = ("claude-sonnet-4", "claude-sonnet-4-5", "gpt-5")
    assert known_name("anthropic/claude-sonnet-4-5-20250929", names) == "claude-sonnet-4-5"
    assert known_name("claude-sonnet-45", names) == ""


@pytest.mark.parametrize("source", ["- gpt-5", "gpt-5: {window: 0}", "gpt-5: {windows: 1}", "gpt-5: 4"])
def test_a_table_of_another_form_is_refused(source: str) -> None:
    with pytest.raises(Misconfigured, match=r"models\.yaml: it is not readable"):
        parse_models(source)
