"""The body of a summary."""

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import override

from builder.remember.schemas.base import Body, BodyFacts, BodyPart


class SummaryLine(BodyPart):
    """One line of a summary."""

    text: str = Field(min_length=1, strict=True, description="what is kept, the speaker's name in front")
    day: str = Field("", strict=True, description="day on which its episode began")
    ids: tuple[str, ...] = Field(min_length=1, description="breadcrumbs that it was made from")
    versions: tuple[int, ...] = Field(min_length=1, description="their versions: an edited or deleted source hides the line")
    verbatim: bool = Field(False, strict=True, description="kept word for word, outside the cap")
    rank: int = Field(0, ge=0, strict=True, description="0 = tells most; on a page without room for all, the highest go first")
    id: str = Field("", strict=True, description='of an observation, which a model wrote: its id; "" = it is none')
    subject: str = Field("", strict=True, description="of an observation: what it is about")
    replaces: str = Field("", strict=True, description="of an observation: id of an earlier one that holds no more because of it")

    @model_validator(mode="after")
    def _paired(self) -> "SummaryLine":
        if len(self.ids) != len(self.versions):
            raise ValueError(f"{len(self.ids)} ids and {len(self.versions)} versions; give one version for each id")
        return self


class SummaryV1(Body):
    """What stands for older breadcrumbs of a session. The service writes it; it never triggers. Its observations may be found."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "lines": [
                        {"text": "Ana: The kiln fires at cone 6.", "day": "8 May 2023", "ids": ["m3"], "versions": [1]},
                        {
                            "text": "kiln: fires at cone 6",
                            "day": "8 May 2023",
                            "ids": ["m3"],
                            "versions": [1],
                            "id": "5c1f0a9e",
                            "subject": "kiln",
                            "replaces": "b07d21c4",
                        },
                    ],
                    "covered": ["m3"],
                    "versions": [1],
                    "previous": "",
                    "last": "m3",
                    "recipe": "3f0c9a51",
                    "by": "extractive",
                    "language": "en",
                }
            ]
        }
    )
    lines: tuple[SummaryLine, ...] = Field(
        description="in place order; of those kept word for word, and of observations, only what it newly covers"
    )
    covered: tuple[str, ...] = Field(
        min_length=1, description="ids that it stands for, in versions that no earlier summary does, in order"
    )
    versions: tuple[int, ...] = Field((), description="versions of the ids covered, one for each; empty = all are first ones")
    previous: str = Field("", strict=True, description='id of the summary that it continues; "" for the first')
    last: str = Field(min_length=1, strict=True, description="id of the breadcrumb that heads the last unit it covers")
    recipe: str = Field(min_length=1, strict=True, description="hash of the settings it was made with; so does the tag recipe:…")
    by: str = Field("", strict=True, description="extractive, or the name of the model")
    language: str = Field("und", strict=True, description="ISO 639-1 code, und when nobody knows")
    at_once: bool = Field(
        False,
        strict=True,
        description="made on demand: shown at once, not when the beginning of the conversation on the page moves next",
    )

    @model_validator(mode="after")
    def _versioned(self) -> "SummaryV1":
        if self.versions and len(self.covered) != len(self.versions):
            raise ValueError(
                f"{len(self.covered)} ids covered and {len(self.versions)} versions; give one version for each id, or none"
            )
        return self

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(covers=self.covered, text="\n".join(line.text for line in self.lines if line.id))
