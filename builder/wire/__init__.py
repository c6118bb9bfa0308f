"""Bytes ⇄ nouns: the only place (settings aside) where pydantic models and JSON meet the domain."""
