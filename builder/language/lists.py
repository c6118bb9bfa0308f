"""The word lists of all languages, read once from `data/*.toml`: a new language is a new file."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def words(name: str) -> tuple[str, ...]:
    """All entries of a list in all languages, each once, the longest first. Raises KeyError where a language lacks the list."""
    folder = files("builder.language") / "data"
    held = (tomllib.loads(file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".toml"))
    return tuple(sorted({entry for language in held for entry in language[name]}, key=lambda entry: (-len(entry), entry)))
