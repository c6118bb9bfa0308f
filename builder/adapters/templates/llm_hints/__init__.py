"""The hints that records bring (`llm_hints`): read, checked, applied to a body within the limits of the sandbox."""
