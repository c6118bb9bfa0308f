"""The bodies of records that end a breadcrumb in a session."""

from pydantic import ConfigDict, Field
from typing_extensions import override

from builder.remember.schemas.base import Body, BodyFacts


class BreadcrumbDeletedV1(Body):
    """A tombstone: from its place on, the named breadcrumb is gone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"breadcrumb_id": "m17"}]})
    breadcrumb_id: str = Field(min_length=1, description="id of the breadcrumb to remove")
    reason: str = Field("", description="secret = the service closes the id of a secret, under which nothing readable stood")

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(removes=self.breadcrumb_id)


class BreadcrumbMovedV1(Body):
    """In session `_`: from its place on, the named breadcrumb stands in another session. The service alone writes it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"breadcrumb_id": "m17", "session": "s43"}]})
    breadcrumb_id: str = Field(min_length=1, description="id of the breadcrumb that moved")
    session: str = Field(min_length=1, description="token of the session in which its later versions stand")

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(removes=self.breadcrumb_id)
