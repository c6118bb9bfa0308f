"""The body of a blacklist, and what it leaves out."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, model_validator

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.lint_finding import nearest
from builder.domain.selector import Selector
from builder.remember.schemas.base import Body, BodyPart

_Name = Annotated[str, Field(min_length=1)]
EXCLUSIONS = ("excluded_schemas", "excluded_tags", "excluded_ids")


class ExcludedSchema(BodyPart):
    """One line of a blacklist."""

    schema_name: _Name = Field(description="schema that is left out")
    reason: str | None = Field(None, description="why, for people")


class ContextBlacklistV1(Body):
    """What is neither searched nor part of any conversation, from its place on; the latest one holds.

    One that names nothing is rejected: the one before it holds on. To lift a blacklist, delete it (breadcrumb.deleted.v1).
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"excluded_schemas": [{"schema_name": "system.metric.v1", "reason": "noise"}], "excluded_tags": ["draft"]}
            ],
            "anyOf": [{"required": [name], "properties": {name: {"minItems": 1}}} for name in EXCLUSIONS],
        }
    )
    excluded_schemas: tuple[ExcludedSchema, ...] = Field((), description="schemas that are left out")
    excluded_tags: tuple[_Name, ...] = Field((), description="breadcrumbs with one of these tags are left out")
    excluded_ids: tuple[_Name, ...] = Field((), description="these breadcrumbs are left out")

    @model_validator(mode="before")
    @classmethod
    def _spelt_right(cls, value: Any) -> Any:
        unknown = set(value) - cls.model_fields.keys() if isinstance(value, dict) else set()
        for name in sorted(unknown):
            near = nearest(name, EXCLUSIONS) or next((own for own in EXCLUSIONS if own.endswith(f"_{name}")), "")
            if near:
                raise ValueError(f"a blacklist has no field {name!r:.60}; write {near}")
        return value

    @model_validator(mode="after")
    def _names_something(self) -> "ContextBlacklistV1":
        if not self.excluded():
            raise ValueError(
                f"it leaves nothing out, so the blacklist before it holds on; name something in {', '.join(EXCLUSIONS)}, "
                "or lift a blacklist by deleting it (breadcrumb.deleted.v1 with its id)"
            )
        return self

    def excluded(self) -> tuple[Selector, ...]:
        """What is left out, each by itself."""
        selectors = (
            Selector(schemas=tuple(line.schema_name for line in self.excluded_schemas)),
            Selector(any_tags=self.excluded_tags),
            Selector(ids=self.excluded_ids),
        )
        return tuple(selector for selector in selectors if selector != Selector())


@lru_cache(256)
def excluded(blacklist: Breadcrumb) -> tuple[Selector, ...]:
    """What a stored blacklist leaves out."""
    try:
        return ContextBlacklistV1.model_validate_json(blacklist.body).excluded()
    except ValidationError:
        return ()
