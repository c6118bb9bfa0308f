"""Settings that profiles no longer have: their files are read as before, and their authors told what to write."""

import logging
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

Path = tuple[str, ...]
log = logging.getLogger("builder.profiles")


class FormerSetting(NamedTuple):
    """One setting that is gone."""

    path: Path
    problem: str
    fix: str


SECTIONS, SHADOW_OF = "sections", "shadow_of"
PRICED = "a page shows what is worth its tokens"
FORMER = (
    FormerSetting(
        (SHADOW_OF,),
        "no profile is tried beside a consumer's, so this file makes no consumer",
        "compare pages with `context-builder replay ID --profile FILE`, or take it out to make a consumer",
    ),
    FormerSetting(("target",), "a page never has more tokens than its budget", "write it as budget"),
    FormerSetting(("window_share",), "the budget is a number of tokens", "write it as budget"),
    FormerSetting(
        ("words_of_people",), "messages have summaries, memory and instructions, quoted, in the system message", "take it out"
    ),
    FormerSetting(("window", "min_share"), PRICED, "take it out; of two sections, give the one with source: window a min_share"),
    FormerSetting(("window", "whole_up_to"), "a conversation that fits into the budget is shown whole", "take it out"),
    FormerSetting(("retrieval", "floor"), PRICED, "take it out, and set worth for larger or smaller pages"),
    FormerSetting(("retrieval", "first_in_follow_ups"), "sections keep the order of the profile", "take it out"),
    FormerSetting((SECTIONS, "min_tokens"), "max_share is a share of the page", "take it out, and set a larger max_share"),
)


def former_settings(values: Mapping[str, Any]) -> tuple[FormerSetting, ...]:
    """Those that a file sets."""
    return tuple(setting for setting in FORMER if _mappings(values, setting.path))


def without_former(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a file as they are read today. A target becomes the budget."""
    today = deepcopy(dict(values))
    for setting in former_settings(values):
        for mapping in _mappings(today, setting.path):
            value = mapping.pop(setting.path[-1])
            if setting.path == ("target",) and isinstance(value, int):
                budget = today.get("budget")
                today["budget"] = min(value, budget) if isinstance(budget, int) else value
        emptied = setting.path[0]
        if today.get(emptied) == {}:
            del today[emptied]  # an empty mapping would empty that of the file below
    return today


def tell_former(values: Mapping[str, Any], file: str) -> None:
    """Warn of what a file sets and nothing reads."""
    for setting in former_settings(values):
        log.warning("%s: there is no setting `%s` any more: %s; %s", file, ".".join(setting.path), setting.problem, setting.fix)


def _mappings(values: Any, path: Path) -> list[Any]:
    """Those of a file that set it. A section is one of a list, or has a name."""
    mappings = [values]
    for step in path[:-1]:
        inner = [mapping[step] for mapping in mappings if isinstance(mapping, dict) and step in mapping]
        mappings = [section for each in inner for section in _sections(each)] if step == SECTIONS else inner
    return [mapping for mapping in mappings if isinstance(mapping, dict) and path[-1] in mapping]


def _sections(sections: Any) -> list[Any]:
    return [*sections.values()] if isinstance(sections, dict) else [*sections] if isinstance(sections, list) else []
