"""The body of an agent's definition."""

from pydantic import ConfigDict, Field
from typing_extensions import override

from builder.remember.content import Text
from builder.remember.schemas.base import Body, BodyFacts


class AgentDefV1(Body):
    """An agent's definition, as far as pages need it; speaks under its `agent_id`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"agent_id": "support", "system_prompt": "You help people who fire kilns."}]}
    )
    agent_id: str = Field(min_length=1, max_length=200, description="the consumer that it defines")
    system_prompt: Text = Field("", description="shown on its pages in the section with source system")

    @override
    def facts(self) -> BodyFacts:
        return BodyFacts(text=self.system_prompt, speaker=self.agent_id)
