"""The word lists of all languages, read once from `data/*.toml`: a new language is a new file."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def words(name: str) -> tuple[str, ...]:
    """All entries of a list in all languages, each once, the longest first. Raises KeyError where no language has the list."""
    folder = files("builder.language") / "data"
    languages = (tomllib.loads(file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".toml"))
    entries = {entry for language in languages for entry in language.get(name, ())}
    if not entries:
        raise KeyError(name)
    return tuple(sorted(entries, key=lambda entry: (-len(entry), entry)))
