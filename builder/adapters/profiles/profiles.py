"""Profile files → frozen profiles. The file name is the consumer's name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builder.adapters.profiles.layers import SECTIONS, Layer, layers, merged, origins
from builder.adapters.profiles.models import ModelFacts, facts_of
from builder.adapters.profiles.parts import (
    PinnedFile,
    ReminderFile,
    RetrievalFile,
    SectionFile,
    SelectorFile,
    SummariesFile,
    ToolOutputFile,
    WindowFile,
    check_showable,
)
from builder.adapters.profiles.time_zones import TimeZoneName, time_zone
from builder.assemble.sources.table import SOURCES
from builder.domain.errors import Misconfigured, Rejected
from builder.domain.profile import (
    MAX_MARGIN,
    ChatFormat,
    Cut,
    Dates,
    Profile,
    Reminder,
    Retrieval,
    SectionRule,
    Summaries,
    ToolOutput,
    Window,
)
from builder.domain.selector import Pinned, Selector
from builder.domain.usage import undated
from builder.wire.subjects import check_token

DEFAULT_BUDGET = DEFAULT_TARGET = 4000
CATALOG = "tool.catalog.v1"


class ProfileFile(BaseModel):
    """A profile as its author writes it, with what it `extends` laid under it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "triggers": ["user.message.v1"],
                    "budget": 2000,
                    "pinned": ["tool.catalog.v1"],
                    "retrieval": {"schemas": ["user.message.v1", "agent.response.v1", "note.v1"]},
                    "sections": [
                        {"name": "tools", "title": "Available Tools", "source": "pinned", "class": "static", "max_share": 0.3},
                        {"name": "recent", "title": "Recent Conversation", "source": "window", "max_share": 0.5},
                        {"name": "relevant", "title": "Relevant Earlier Messages", "source": "retrieval", "min_share": 0.2},
                        {"name": "current", "title": "Current User Message", "source": "trigger"},
                    ],
                }
            ]
        },
    )
    extends: tuple[str, ...] = Field((), description="presets laid under this file, the last over the first; default is one too")
    triggers: tuple[str, ...] = Field(
        (), description="schemas whose first version asks for a context, if `audience` matches it; empty = on demand"
    )
    page: str = Field("default", description="page template: default is markdown, xml has a tag a section")
    model: str | None = Field(
        None, description="model that reads the page: gives budget, encoding and margin where the file gives none"
    )
    window_share: float = Field(0.75, gt=0, le=1, description="share of the model's window that the budget is, with `model`")
    encoding: Literal["o200k_base", "cl100k_base"] | None = Field(None, description="tokenizer of the budget; default o200k_base")
    budget: int | None = Field(
        None,
        ge=16,
        le=2_000_000,
        description=f"most tokens of the page; default {DEFAULT_BUDGET}, or `window_share` of the model's window",
    )
    target: int | None = Field(
        None,
        ge=16,
        le=2_000_000,
        description=f"tokens that the page aims at; default is the budget, but {DEFAULT_TARGET} where that follows from `model`",
    )
    reserve: int = Field(
        0,
        ge=0,
        description="tokens of the budget kept free, for the answer, a system prompt that the agent sends itself, "
        "or a chat API's own",
    )
    margin: float | None = Field(
        None, ge=0, lt=1, description="share of the budget kept free where the tokenizer differs; default 0"
    )
    calibrate: bool = Field(
        False, description="what agents report of `model`'s usage (agent.usage.v1) takes the place of the margin, up to 0.5"
    )
    on_overflow: Literal["trim", "reject"] = Field(
        "trim",
        description="trim = what does not fit of the conversation is left out, the oldest first; reject = no context when the "
        "conversation, as the profile limits it, does not fit",
    )
    system_prompt: str = Field(
        "",
        description="shown in the section with source system, which every page has in front unless the profile puts it elsewhere",
    )
    show_system_prompt: bool = Field(
        True, description="false for an agent that sends its system prompt itself: then no section shows it"
    )
    show_tool_catalog: bool = Field(
        True, description="false for an agent that passes its tools to the API: then tool.catalog.v1 is not pinned"
    )
    time_zone: TimeZoneName = Field(
        "UTC", description="IANA name; dates on the page are in the sender's offset, and in this zone where the sender gave none"
    )
    audience: SelectorFile | None = Field(
        None,
        description="which breadcrumbs of the session are this consumer's conversation; no other one triggers it, "
        "whatever `triggers` says; null = all",
    )
    scope_to_task: bool = Field(False, description="only breadcrumbs of the trigger's task (`task_id`, or the tag task:ID)")
    recursion_limit: int = Field(25, ge=1, le=1000, description="most steps of a chain of triggers and answers")
    pinned: tuple[str | PinnedFile, ...] = Field((), description="what stands on the page; a schema = its latest breadcrumb")
    reminders: tuple[ReminderFile, ...] = Field((), description="texts that are added to the page")
    window: WindowFile = Field(default_factory=lambda: WindowFile.model_validate({}))
    retrieval: RetrievalFile
    tool_output: ToolOutputFile = Field(default_factory=lambda: ToolOutputFile.model_validate({}))
    summaries: SummariesFile | None = Field(None, description="running summaries of older units; null = none")
    chat_format: ChatFormat = Field("none", description="the same context as `messages` for a chat API, beside the page")
    sections: tuple[SectionFile, ...] = Field(min_length=1, description="in page order")

    @model_validator(mode="after")
    def _has_one_trigger(self) -> "ProfileFile":
        sources = [section.source for section in self.sections if section.source != "reminder"]
        if sources.count("trigger") != 1 or sources[-1] != "trigger":
            raise ValueError(
                "exactly one section has source: trigger (the current message), and nothing but reminders comes behind it"
            )
        if len({section.name for section in self.sections}) < len(self.sections):
            raise ValueError("two sections have the same name")
        check_showable((*self.triggers, *(item for item in self.pinned if isinstance(item, str))))
        return self

    @model_validator(mode="after")
    def _target_fits_budget(self) -> "ProfileFile":
        if self.target is not None and self.budget is not None and self.target > self.budget:
            raise ValueError(f"target is {self.target} but budget is {self.budget}; lower target")
        return self

    @model_validator(mode="after")
    def _calibrates_a_model(self) -> "ProfileFile":
        if self.calibrate and self.model is None:
            raise ValueError("calibrate needs the name of the model that reads the page; add model, or take calibrate out")
        return self

    @model_validator(mode="after")
    def _sections_exist(self) -> "ProfileFile":
        sources = {section.name: section.source for section in self.sections}
        pinned = (item.section for item in self.pinned if not isinstance(item, str))
        references = [(section, "pinned") for section in pinned if section]
        references += [(item.section, "reminder") for item in self.reminders]
        for name, source in references:
            if sources.get(name) != source:
                raise ValueError(f"there is no section {name!r} with source {source}; add it to sections")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What profile files may refer to."""

    presets: Mapping[str, str] = field(default_factory=dict)
    """Name → YAML text."""
    models: Mapping[str, ModelFacts] = field(default_factory=dict)


def parse_profile(name: str, source: str, library: Library | None = None) -> Profile:
    """Read a profile file. Raises `Misconfigured` with the file's name, the place and what to do."""
    library = library or Library()
    try:
        check_token(name, "profile name")
        stack = layers(source, library.presets)
        values = merged(stack)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, Rejected) as error:
        raise Misconfigured(f"profiles/{name}.yaml is not readable: {error}") from error
    try:
        file = ProfileFile.model_validate(values)
        content = f"{source}\0{json.dumps(values, sort_keys=True, default=str)}"
        return _profile(name, file, library, blake2b(content.encode(), digest_size=4).hexdigest())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        pointer = "/".join(map(str, first["loc"])) or "the file"
        message = first["msg"].removeprefix("Value error, ")
        place = f"{message} at {pointer}, got {first['input']!r:.120}{_preset_of(first['loc'], values, stack)}"
        raise Misconfigured(f"profiles/{name}.yaml: {place}; see schemas/profile.json") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise Misconfigured(f"profiles/{name}.yaml is not readable: {error}") from error


def _preset_of(place: tuple[int | str, ...], values: Mapping[str, Any], stack: tuple[Layer, ...]) -> str:
    """The preset that set the value at this place, if it was one."""
    path = tuple(map(str, place))
    if path[:1] == (SECTIONS,) and len(place) > 1 and isinstance(place[1], int):
        path = (SECTIONS, str(values[SECTIONS][place[1]].get("name")), *path[2:])
    names = {name for leaf, name in origins(stack).items() if path and leaf[: len(path)] == path}
    return f" by preset {', '.join(sorted(names))}" if names and "" not in names else ""


def _profile(name: str, file: ProfileFile, library: Library, revision: str) -> Profile:
    profile = Profile(
        **_page_size(file, library),
        consumer=name,
        revision=revision,
        triggers=file.triggers,
        page=file.page,
        reserve=file.reserve,
        calibrate=undated(file.model) if file.calibrate and file.model is not None else None,
        on_overflow=file.on_overflow,
        system_prompt=file.system_prompt.strip() if file.show_system_prompt else "",
        time_zone=time_zone(file.time_zone),
        audience=Selector(**file.audience.model_dump()) if file.audience else None,
        scope_to_task=file.scope_to_task,
        recursion_limit=file.recursion_limit,
        pinned=_all_pinned(file),
        reminders=tuple(_reminder(item) for item in file.reminders),
        window=Window(**file.window.model_dump()),
        retrieval=Retrieval(**file.retrieval.model_dump()),
        tool_output=_tool_output(file.tool_output),
        summaries=Summaries(**file.summaries.model_dump()) if file.summaries else None,
        chat_format=file.chat_format,
        sections=_sections(file),
    )
    if profile.least_allowance < 1:
        margin = f"margin {profile.margin}" if profile.calibrate is None else f"the margin up to {MAX_MARGIN} (calibrate)"
        raise Misconfigured(
            f"profiles/{name}.yaml: reserve is {profile.reserve} and {margin} of a budget of {profile.budget}; "
            "leave room for the page; see schemas/profile.json"
        )
    return profile


def _page_size(file: ProfileFile, library: Library) -> dict[str, Any]:
    """Of the file, else of its model, else the defaults."""
    margin: float = 0
    if file.model is None:
        encoding, budget, target = "o200k_base", DEFAULT_BUDGET, None
    else:
        facts = facts_of(file.model, library.models)
        encoding, budget, margin = facts.encoding, int(facts.window * file.window_share), facts.margin
        target = DEFAULT_TARGET if file.budget is None else None
    return {
        "encoding": file.encoding or encoding,
        "budget": file.budget or budget,
        "target": file.target or target,
        "margin": margin if file.margin is None else file.margin,
    }


def _all_pinned(file: ProfileFile) -> tuple[Pinned, ...]:
    """All of the file; without the tool catalog where the agent passes its tools to the API."""
    return tuple(item for item in map(_pinned, file.pinned) if file.show_tool_catalog or item.selector.schemas != (CATALOG,))


def _pinned(item: str | PinnedFile) -> Pinned:
    if isinstance(item, str):
        return Pinned(selector=Selector(schemas=(item,)), keep="latest", section="")
    return Pinned(selector=Selector(**item.model_dump(exclude={"keep", "section"})), keep=item.keep, section=item.section)


def _sections(file: ProfileFile) -> tuple[SectionRule, ...]:
    """The sections of the file, with one for the system prompt in front where the file has none."""
    rules = tuple(_section(section) for section in file.sections if file.show_system_prompt or section.source != "system")
    if not file.show_system_prompt or any(rule.source == "system" for rule in rules):
        return rules
    name = next(name for name in ("role", "system", "system_prompt") if all(rule.name != name for rule in rules))
    return (_section(SectionFile.model_validate({"name": name, "title": "Role", "source": "system", "class": "static"})), *rules)


def _section(item: SectionFile) -> SectionRule:
    setting = SOURCES[item.source].is_dated if item.dates is None else item.dates
    dates: Dates = ("day" if setting else "none") if isinstance(setting, bool) else setting
    return SectionRule(**item.model_dump(exclude={"dates"}), dates=dates)


def _reminder(item: ReminderFile) -> Reminder:
    when = Selector(**item.when.model_dump()) if item.when else None
    return Reminder(section=item.section, text=item.text.strip(), every=item.every, when=when)


def _tool_output(file: ToolOutputFile) -> ToolOutput:
    per_tool = {tool: Cut(**cut.model_dump()) for tool, cut in file.per_tool.items()}
    return ToolOutput(cut=Cut(**file.cut.model_dump()), per_tool=per_tool, **file.model_dump(exclude={"cut", "per_tool"}))
