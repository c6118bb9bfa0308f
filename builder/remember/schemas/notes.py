"""The bodies of what is kept or looked at beside a conversation: notes, pages and tabs of a browser."""

from typing import Any, ClassVar

from pydantic import ConfigDict, Field
from typing_extensions import override

from builder.remember.content import Text
from builder.remember.schemas.base import Body, BodyFacts


class NoteV1(Body):
    """A note that an agent or a person keeps."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Glaze batch 7 needs two coats.", "url": "https://example.org/notes/7"}]}
    )
    default_speaker: ClassVar[str] = "Note"
    content: Text = Field(description="the note")
    title: str | None = None
    url: str | None = None

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text=self.content)


class BrowserPageContextV1(Body):
    """The page that the user looks at."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "Orders", "url": "https://example.org/orders", "dom": {"interactiveCount": 12}}]
        }
    )
    default_speaker: ClassVar[str] = "Browser"
    title: str = Field("", description="title of the page")
    url: str = Field(description="address of the page")
    content: dict[str, Any] | None = Field(None, description="{mainText, headings, links}")
    dom: dict[str, Any] | None = Field(None, description="{interactiveCount, …}")

    @override
    def facts(self) -> BodyFacts:
        main = (self.content or {}).get("mainText")
        return BodyFacts(text="\n".join(filter(None, (self.title, main if isinstance(main, str) else ""))))


class BrowserTabContextV1(BrowserPageContextV1):
    """The active tab, as RCRT's extension sends it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"title": "Orders", "url": "https://example.org/orders", "tab_id": 7, "content": {"mainText": "3 open orders"}}
            ]
        }
    )
