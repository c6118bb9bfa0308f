"""Files that set what profiles no longer have are read as before, and their authors told once what to write."""

import logging
from typing import Any

import pytest

from builder.adapters.profiles.former_settings import FORMER as FORMER_SETTINGS
from builder.adapters.profiles.former_settings import former_settings, tell_former, without_former
from builder.adapters.profiles.profiles import parse_profile

FORMER: dict[str, Any] = {
    "target": 3000,
    "shadow_of": "default",
    "window_share": 0.5,
    "words_of_people": "user",
    "window": {"min_share": 0.2, "whole_up_to": "budget", "trim_to": 7},
    "retrieval": {"floor": 0.3, "first_in_follow_ups": True, "schemas": []},
    "sections": [{"name": "recent", "min_tokens": 9}, {"name": "current"}],
}


def test_a_file_is_read_without_what_is_gone_and_keeps_the_rest() -> None:
    assert without_former(FORMER) == {
        "budget": 3000,
        "window": {"trim_to": 7},
        "retrieval": {"schemas": []},
        "sections": [{"name": "recent"}, {"name": "current"}],
    }
    assert FORMER["window"]["min_share"] == 0.2, "what was read is not changed"


@pytest.mark.parametrize(("budget", "today"), [(None, 3000), (2000, 2000), (9000, 3000)])
def test_a_target_becomes_the_budget_where_that_is_no_smaller(budget: int | None, today: int) -> None:
    assert without_former({"target": 3000, "budget": budget})["budget"] == today


@pytest.mark.parametrize("values", [{"target": None}, {"window": None}, {"window": "target"}, {"retrieval": {}}, {}])
def test_what_is_no_former_setting_stays_and_an_empty_target_is_no_budget(values: dict[str, Any]) -> None:
    assert without_former(values) == {name: value for name, value in values.items() if name != "target"}


def test_what_has_nothing_else_is_left_out_because_an_empty_mapping_empties_what_it_is_laid_over() -> None:
    assert without_former({"window": {"min_share": 0.2}, "retrieval": {"floor": 0.1}, "models": {}}) == {"models": {}}


def test_each_is_named_with_its_file_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "builder.profiles"):
        tell_former(FORMER, "profiles/mine.yaml")
        tell_former({"budget": 4000, "window": {"trim_to": 7}}, "profiles/other.yaml")
    names = [".".join(setting.path) for setting in former_settings(FORMER)]
    assert names == [".".join(setting.path) for setting in FORMER_SETTINGS], "each has a row"
    assert [text.partition(" any more")[0] for text in caplog.messages] == [
        f"profiles/mine.yaml: there is no setting `{name}`" for name in names
    ]
    assert caplog.messages[1].endswith("write it as budget")


def test_a_profile_with_former_settings_is_a_profile_of_today(caplog: pytest.LogCaptureFixture) -> None:
    text = "target: 1234\nwindow: {min_share: 0.3}\nretrieval: {schemas: [], floor: 0.2}\n"
    profile = parse_profile("mine", f"{text}sections: [{{name: current, title: Now, source: trigger}}]\n")
    assert profile.budget == 1234
    assert caplog.text.count("there is no setting") == 3


def test_a_section_by_its_name_is_read_without_what_is_gone() -> None:
    assert without_former({"sections": {"recent": {"min_tokens": 9, "max_share": 0.3}, "relevant": None}}) == {
        "sections": {"recent": {"max_share": 0.3}, "relevant": None}
    }
