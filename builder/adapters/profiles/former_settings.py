"""Settings that profiles no longer have: their files are read as before, and their authors told what to write."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

Path = tuple[str, ...]
log = logging.getLogger("builder.profiles")


class FormerSetting(NamedTuple):
    """One setting that is gone."""

    path: Path
    problem: str
    fix: str


PRICED = "a page shows what is worth its tokens"
FORMER = {
    ("target",): FormerSetting(("target",), "a page never has more tokens than its budget", "write it as budget"),
    ("window", "min_share"): FormerSetting(
        ("window", "min_share"), PRICED, "take it out; of two sections, give the one with source: window a min_share"
    ),
    ("window", "whole_up_to"): FormerSetting(
        ("window", "whole_up_to"), "a conversation that fits into the budget is shown whole", "take it out"
    ),
    ("retrieval", "floor"): FormerSetting(
        ("retrieval", "floor"), PRICED, "take it out, and set worth for larger or smaller pages"
    ),
}


def former_settings(values: Mapping[str, Any]) -> tuple[FormerSetting, ...]:
    """Those that a file sets."""
    return tuple(setting for path, setting in FORMER.items() if _has(values, path))


def without_former(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a file as they are read today. A target becomes the budget."""
    today = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    for setting in former_settings(values):
        inner = today
        for step in setting.path[:-1]:
            inner = inner[step]
        value = inner.pop(setting.path[-1])
        if setting.path == ("target",) and isinstance(value, int):
            budget = today.get("budget")
            today["budget"] = min(value, budget) if isinstance(budget, int) else value
    return today


def tell_former(values: Mapping[str, Any], file: str) -> None:
    """Warn of what a file sets and nothing reads."""
    for setting in former_settings(values):
        log.warning("%s: there is no setting `%s` any more: %s; %s", file, ".".join(setting.path), setting.problem, setting.fix)


def _has(values: Any, path: Path) -> bool:
    for step in path:
        if not isinstance(values, Mapping) or step not in values:
            return False
        values = values[step]
    return True
