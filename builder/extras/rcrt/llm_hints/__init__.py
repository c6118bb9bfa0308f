"""`llm_hints` of records: read, checked, applied to a body within the sandbox's limits."""
