"""Profile files → frozen profiles. The file name is the consumer's name (design §3)."""

from hashlib import blake2b
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builder.domain.errors import Misconfigured, Rejected
from builder.domain.profile import Profile, QuerySource, Retrieval, SectionClass, SectionRule, Source, Window
from builder.wire.subjects import check_token

_STRICT = ConfigDict(extra="forbid", frozen=True)
_Session = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
NEVER = frozenset({"secret.v1", "agent.context.v1", "context.blacklist.v1", "breadcrumb.deleted.v1"})
"""Kinds that no profile can switch on (features D18)."""


class WindowFile(BaseModel):
    """The hot window, in units."""

    model_config = _STRICT
    trigger: int = Field(20, ge=0, description="the window is trimmed only when the history is longer than this")
    keep: int = Field(10, ge=0, description="units that are kept when it is trimmed")
    min_recent: int = Field(
        3, ge=0, description="newest units that come before everything but the current message, shortened if need be"
    )
    max_tool_turns: int | None = Field(3, ge=0, description="newest tool turns whose calls and results are shown; null = all")

    @model_validator(mode="after")
    def _ordered(self) -> "WindowFile":
        if self.keep > self.trigger:
            raise ValueError(f"keep is {self.keep} but trigger is {self.trigger}; keep at most as many as trigger")
        return self


class RetrievalFile(BaseModel):
    """What may be found among older breadcrumbs."""

    model_config = _STRICT
    scope: Literal["session", "workspace"] | tuple[_Session, ...] = Field(
        "session", description="where: the session, the whole workspace, or a list of sessions beside the own one"
    )
    schemas: tuple[str, ...] = Field(description="schemas that are searched")
    ceilings: dict[str, int] = Field(
        {}, description="most units per schema while not everything found fits; none = by rank alone"
    )
    similarity_threshold: float = Field(0, ge=0, le=1, description="least cosine; 0 = no threshold")
    relevance_threshold: float | None = Field(
        None,
        allow_inf_nan=False,
        description="least score on the way from the mean of all (0) to the best that may be found (1); null = all",
    )
    duplicate_threshold: float = Field(0.95, gt=0, le=1, description="cosine from which two texts are shown once")
    neighbours: int = Field(
        0, ge=0, le=5, description="passages before and after the best 5 finds, with what is left once everything found is shown"
    )
    rerank: int = Field(
        0,
        ge=0,
        le=1000,
        description="best passages that late interaction puts in order anew, 50 is a good number; 0 = none. "
        "Needs CONTEXT_BUILDER_EMBEDDING__LATE_INTERACTION, else contexts are flagged token_vectors_missing",
    )
    query: QuerySource = Field(
        "last_user",
        description="what is searched with: last_user = the trigger, a follow-up question together with what it follows; "
        "last_n = the last messages; custom = query_text",
    )
    query_messages: int = Field(3, ge=1, le=20, description="messages of last_n, the trigger included")
    query_text: str = Field("", max_length=2000, description="text of custom; {trigger} stands for the trigger's text")

    @model_validator(mode="after")
    def _nothing_secret(self) -> "RetrievalFile":
        if forbidden := NEVER & set(self.schemas):
            raise ValueError(f"{', '.join(sorted(forbidden))} is never shown; take it out of schemas")
        return self

    @model_validator(mode="after")
    def _asks_something(self) -> "RetrievalFile":
        if (self.query == "custom") != bool(self.query_text.strip()):
            raise ValueError(f"query is {self.query} and query_text is {self.query_text!r}; custom, and only that, needs a text")
        return self


class SectionFile(BaseModel):
    """One section of the page."""

    model_config = _STRICT
    name: str = Field(description="name in the event's `sections`")
    title: str = Field(description="heading on the page")
    source: Source = Field(description="what fills it")
    section_class: SectionClass = Field("turn", alias="class", description="how long it stays the same: static, slow, turn")
    floor: float = Field(0, ge=0, le=1, description="share of the budget served before other sections get more than theirs")
    ceiling: float = Field(1, gt=0, le=1, description="largest share of the budget")
    dates: bool = Field(False, description="one date line per sitting")

    @model_validator(mode="after")
    def _ordered(self) -> "SectionFile":
        if self.floor > self.ceiling:
            raise ValueError(f"floor is {self.floor} but ceiling is {self.ceiling}; make the floor no higher than the ceiling")
        return self


class ProfileFile(BaseModel):
    """A profile as its author writes it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "triggers": ["user.message.v1"],
                    "budget": 2000,
                    "standing": ["tool.catalog.v1"],
                    "retrieval": {"schemas": ["user.message.v1", "agent.response.v1", "note.v1"]},
                    "sections": [
                        {"name": "tools", "title": "Available Tools", "source": "standing", "class": "static", "ceiling": 0.3},
                        {"name": "recent", "title": "Recent Conversation", "source": "hot", "floor": 0.2, "ceiling": 0.5},
                        {"name": "relevant", "title": "Relevant Earlier Messages", "source": "retrieval", "dates": True},
                        {"name": "current", "title": "Current User Message", "source": "trigger"},
                    ],
                }
            ]
        },
    )
    triggers: tuple[str, ...] = Field((), description="schemas whose first version asks for a context; empty = only on demand")
    page: str = Field("default", description="page template")
    encoding: Literal["o200k_base", "cl100k_base"] = Field("o200k_base", description="tokenizer of the budget")
    budget: int = Field(4000, ge=16, le=2_000_000, description="tokens of the page")
    reserve: int = Field(0, ge=0, description="tokens of the budget kept free, for the answer or the system prompt")
    standing: tuple[str, ...] = Field((), description="schemas of which the latest breadcrumb stands on the page")
    window: WindowFile = Field(default_factory=lambda: WindowFile.model_validate({}))
    retrieval: RetrievalFile
    sections: tuple[SectionFile, ...] = Field(min_length=1, description="in page order")

    @model_validator(mode="after")
    def _whole(self) -> "ProfileFile":
        sources = [section.source for section in self.sections]
        if sources.count("trigger") != 1 or sources[-1] != "trigger":
            raise ValueError("the last section, and only that, has source: trigger (the current message)")
        if len({section.name for section in self.sections}) < len(self.sections):
            raise ValueError("two sections have the same name")
        if self.reserve >= self.budget:
            raise ValueError(f"reserve is {self.reserve} of a budget of {self.budget}; leave room for the page")
        if forbidden := NEVER & {*self.standing, *self.triggers}:
            raise ValueError(f"{', '.join(sorted(forbidden))} can neither trigger nor stand on a page")
        return self


def parse_profile(name: str, source: str) -> Profile:
    """Read a profile file. Raises `Misconfigured` with the file's name, the place and what to do."""
    try:
        check_token(name, "profile name")
        file = ProfileFile.model_validate(yaml.safe_load(source) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        pointer = "/".join(map(str, first["loc"])) or "the file"
        message = first["msg"].removeprefix("Value error, ")
        place = f"{message} at {pointer}, got {first['input']!r:.120}"
        raise Misconfigured(f"profiles/{name}.yaml: {place}; see schemas/profile.json") from error
    except (yaml.YAMLError, ValueError, RecursionError, Rejected) as error:
        raise Misconfigured(f"profiles/{name}.yaml is not readable: {error}") from error
    return Profile(
        consumer=name,
        revision=blake2b(source.encode(), digest_size=4).hexdigest(),
        window=Window(**file.window.model_dump()),
        retrieval=Retrieval(**file.retrieval.model_dump()),
        sections=tuple(SectionRule(**section.model_dump()) for section in file.sections),
        **file.model_dump(exclude={"window", "retrieval", "sections"}),
    )
