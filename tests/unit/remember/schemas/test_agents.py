"""A definition of an agent says its system prompt."""

from builder.remember.schemas.agents import AgentDefV1


def test_a_definition_says_its_system_prompt_as_the_agent() -> None:
    facts = AgentDefV1.model_validate({"agent_id": "support", "system_prompt": "Help.", "speaker": "Maya"}).facts()
    assert (facts.speaker, facts.text) == ("support", "Help.")
