"""What a page leaves out, as the doors answer it."""

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from builder.client import ReceivedContext


class PageOmission(BaseModel):
    """A breadcrumb that a page leaves out or cuts."""

    model_config = ConfigDict(from_attributes=True)
    id: str
    reason: str
    tokens: int = Field(description="tokens of all of it")
    shown: int = Field(validation_alias=AliasChoices("shown", "tokens_shown"), description="tokens of them on the page")
    probability: float | None = Field(description="that it answers the trigger; null where no search asked")


class PageOmissions(BaseModel):
    """What a page leaves out, the 50 most relevant first, and then what it cuts."""

    trigger: str = Field(description="id of the message that the page answers")
    count: int = Field(description="how many breadcrumbs are not on the page, those in part not counted")
    tokens: int = Field(description="tokens of them")
    omitted: list[PageOmission]


def omissions_of(context: ReceivedContext) -> PageOmissions:
    """What its page leaves out or cuts."""
    omissions = context.event.get("omissions") or {}
    return PageOmissions(
        trigger=context.trigger_event_id,
        count=omissions.get("count", 0),
        tokens=omissions.get("tokens", 0),
        omitted=[PageOmission.model_validate(each) for each in context.omitted],
    )
