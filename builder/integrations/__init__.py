"""The service in the place of what agents and frameworks remember with."""

from builder.integrations.vendors import wrap_anthropic, wrap_openai

__all__ = ["wrap_anthropic", "wrap_openai"]
