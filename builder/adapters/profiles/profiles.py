"""Profile files and `templates/models.yaml` → frozen profiles, named as their files."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builder.adapters.files import FaultyFiles, faulty, parse_yaml
from builder.adapters.profiles.layers import Layer, Path, Presets, SettingError, layers, merged
from builder.adapters.profiles.problems import MAX_NAME_CHARS, finding_of, findings_of
from builder.adapters.profiles.profile_file import (
    NO_FORMAT,
    PinnedFile,
    ProfileFile,
    SectionFile,
    TriggerFile,
    time_zone,
)
from builder.assemble.items.section_sources import SOURCES
from builder.domain.errors import Rejected
from builder.domain.lint_finding import advice
from builder.domain.page_format import PageFormat
from builder.domain.page_settings import DEFAULT_BUDGET, Dates
from builder.domain.profile import Profile, SectionRule
from builder.domain.selector import CATALOG, Pinned, Selector, trigger_on
from builder.wire.subjects import check_token

_SEPARATORS = "-:@"
"""Between a model's name and its date or size."""
TITLE = "title_{}"
"""Phrase of a section's heading."""
_PHRASE = re.compile(r"\{(\w+)\}")


class ModelFacts(BaseModel):
    """One model of `templates/models.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    window: int = Field(gt=0, description="tokens that it reads at once")
    encoding: Literal["o200k_base", "cl100k_base"] = Field("o200k_base", description="its tokenizer, or the nearest public one")
    margin: float = Field(0, ge=0, lt=1, description="share kept free because its own tokenizer is not public")


MAX_TABLES = 4
"""Tables of models that are kept: the bundled one, and some editions of an author's own."""
UNKNOWN_MODEL = ModelFacts(window=128_000, encoding="o200k_base", margin=0.1)


@lru_cache(MAX_TABLES)
def parse_models(source: str) -> Mapping[str, ModelFacts]:
    """Read the table of known models; cached, for every reload reads it again. Raises `FaultyFiles`."""
    try:
        facts_by_name = {name: ModelFacts.model_validate(facts) for name, facts in (parse_yaml(source) or {}).items()}
        return MappingProxyType(facts_by_name)
    except (yaml.YAMLError, ValueError, AttributeError, TypeError) as error:
        raise faulty("models.yaml", f"it is not readable: {error}; map a name to window, encoding and margin") from error


def facts_of(model: str, models: Mapping[str, ModelFacts]) -> ModelFacts:
    """model: its name, `provider/name`, or a dated or sized version."""
    return models.get(known_name(model, models), UNKNOWN_MODEL)


def known_name(model: str, names: Iterable[str]) -> str:
    """The longest matching name; "" = none. A provider before the model is ignored."""
    bare = model.rpartition("/")[2]
    matches = (name for name in names if bare == name or bare.startswith(tuple(f"{name}{mark}" for mark in _SEPARATORS)))
    return max(matches, key=len, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library(Presets):
    """Files, models and phrases that profiles may refer to."""

    languages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Language → phrases by name; empty = any language, without headings."""
    models: Mapping[str, ModelFacts] = field(default_factory=dict)
    hints: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()
    """Empty = any."""
    formats: Mapping[str, PageFormat | None] = field(default_factory=lambda: {NO_FORMAT: None})
    """NO_FORMAT, and those of the installed extras."""

    def layers(self, name: str, source: str, file: str = "") -> tuple[Layer, ...]:
        """See `layers`."""
        return layers(source, self, name, file)


def parse_profile(name: str, source: str, library: Library | None = None, file: str = "") -> Profile:
    """Raises `FaultyFiles` with file, line, setting and remedy. file: its name in messages."""
    library = library or Library()
    file = file or f"profiles/{name}.yaml"
    try:
        check_token(name, "profile name")
        stack = library.layers(name, source, file)
    except (ValueError, TypeError, RecursionError, Rejected) as error:
        raise faulty(file, str(error)) from error
    try:
        values = merged(stack)
        parsed = ProfileFile.model_validate(values)
        content = f"{source}\0{json.dumps(values, sort_keys=True, default=str)}"
        return _profile(name, parsed, library, blake2b(content.encode(), digest_size=4).hexdigest())
    except ValidationError as error:
        raise FaultyFiles(findings_of(error, values, stack, file, ProfileFile)) from error
    except SettingError as error:
        raise FaultyFiles((finding_of(error, stack, file),)) from error
    except (ValueError, TypeError, RecursionError, Rejected) as error:
        raise faulty(file, str(error)) from error


def _profile(name: str, file: ProfileFile, library: Library, revision: str) -> Profile:
    profile = Profile(
        **_page_size(file, library),
        consumer=name,
        agent=file.agent or name,
        revision=revision,
        triggers=tuple(map(_trigger, file.triggers)),
        page=file.page,
        reserve=file.reserve,
        on_overflow=file.on_overflow,
        system_prompt=file.system_prompt.strip() if file.show_system_prompt else "",
        language=file.language,
        time_zone=time_zone(file.time_zone),
        audience=file.audience,
        debounce=file.debounce,
        scope_to_task=file.scope_to_task,
        recursion_limit=file.recursion_limit,
        # without the tool catalog where the agent passes its tools to the API
        pinned=tuple(each for each in map(_pinned, file.pinned) if file.show_tool_catalog or each.selector.schemas != (CATALOG,)),
        reminders=tuple(replace(item, text=item.text.strip()) for item in file.reminders),
        window=file.window,
        retrieval=file.retrieval,
        tool_output=file.tool_output,
        summaries=file.summaries,
        chat_format=library.formats.get(file.chat_format),
        worth=file.worth,
        fill=file.fill,
        sections=_sections(file, _phrases(file.language, library)),
        hints=file.hints,
        trusted_hints=file.trusted_hints,
    )
    references: list[tuple[Path, str, str, frozenset[str]]] = [(("page",), "pages", file.page, library.pages)]
    references += [(("hints", schema), "hints", template, library.hints) for schema, template in file.hints.items()]
    for path, folder, template, there in references:
        if there and template not in there:
            raise SettingError(path, f"{folder}/{template}.md.j2 does not exist", advice(template, there))
    if file.chat_format not in library.formats:
        fix = (
            f"{advice(file.chat_format, library.formats)}, or install the package that brings it (`make up` in a clone, for ours)"
        )
        raise SettingError(("chat_format",), f"no installed extra brings {file.chat_format[:MAX_NAME_CHARS]!r}", fix)
    if profile.allowance < 1:
        problem = f"reserve is {profile.reserve} and margin {profile.margin} of a budget of {profile.budget}"
        raise SettingError(("reserve",), problem, "leave room for the page")
    return profile


def _page_size(file: ProfileFile, library: Library) -> dict[str, Any]:
    margin: float = 0
    if file.model is None:
        encoding, budget = "o200k_base", DEFAULT_BUDGET
    else:
        facts = facts_of(file.model, library.models)
        encoding, margin = facts.encoding, facts.margin
        budget = min(DEFAULT_BUDGET, facts.window)
    return {
        "encoding": file.encoding or encoding,
        "budget": file.budget or budget,
        "margin": margin if file.margin is None else file.margin,
    }


def _trigger(item: str | TriggerFile) -> Selector:
    return trigger_on(item) if isinstance(item, str) else Selector(**item.conditions)


def _pinned(item: str | PinnedFile) -> Pinned:
    if isinstance(item, str):
        return Pinned(selector=Selector(schemas=(item,)), keep="latest", section="")
    return Pinned(selector=Selector(**item.conditions), keep=item.keep, section=item.section)


def _phrases(language: str, library: Library) -> Mapping[str, str]:
    if library.languages and language not in library.languages:
        raise SettingError(("language",), f"there is no phrases/{language}.yaml", advice(language, library.languages))
    return library.languages.get(language, {})


def _sections(file: ProfileFile, phrases: Mapping[str, str]) -> tuple[SectionRule, ...]:
    visible = (section for section in file.sections if file.show_system_prompt or section.source != "system")
    rules = tuple(_section(section, phrases) for section in visible)
    if not file.show_system_prompt or any(rule.source == "system" for rule in rules):
        return rules
    name = next(name for name in ("role", "system", "system_prompt") if all(rule.name != name for rule in rules))
    role = SectionFile.model_validate({"name": name, "title": "{title_role}", "source": "system", "class": "static"})
    return (_section(role, phrases), *rules)


def _section(item: SectionFile, phrases: Mapping[str, str]) -> SectionRule:
    setting = SOURCES[item.source].is_dated if item.dates is None else item.dates
    dates: Dates = ("day" if setting else "none") if isinstance(setting, bool) else setting
    return SectionRule(**item.model_dump(exclude={"dates", "title"}), title=_title(item, phrases), dates=dates)


def _title(item: SectionFile, phrases: Mapping[str, str]) -> str:
    if item.title is not None and not (reference := _PHRASE.fullmatch(item.title)):
        return item.title
    phrase = reference[1] if item.title is not None and reference else TITLE.format(item.name)
    if not phrases:
        return phrase.removeprefix("title_").capitalize()
    if phrase not in phrases:
        path = ("sections", item.name, "title")
        if item.title is None:
            raise SettingError(path, "it has no heading", f"write title: {item.name[:MAX_NAME_CHARS].capitalize()}")
        raise SettingError(path, f"there is no phrase {phrase!r}", advice(phrase, phrases))
    return phrases[phrase]
