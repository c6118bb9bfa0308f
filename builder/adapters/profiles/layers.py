"""A profile file laid over others: merged values, and the origin of each."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from builder.adapters.files import FaultyFiles, YamlMistake, faulty, line_of, parse_yaml
from builder.adapters.profiles.former_settings import SECTIONS, SHADOW_OF, tell_former, without_former
from builder.domain.lint_finding import advice

Path = tuple[str, ...]
"""Steps to a setting; a section's step is its name."""
EXTENDS = "extends"
MAX_TEXTS = 256
DEFAULT = "default"


class SettingError(ValueError):
    """Only the whole profile shows the value to be wrong."""

    def __init__(self, path: Path, problem: str, fix: str) -> None:
        """path: of the setting; a section's step is its name."""
        super().__init__(f"{problem}; {fix}")
        self.path, self.problem, self.fix = path, problem, fix


@dataclass(frozen=True, slots=True)
class Presets:
    """Files that may be extended: name → YAML."""

    presets: Mapping[str, str] = field(default_factory=dict)
    """The author's win."""
    bundled: Mapping[str, str] = field(default_factory=dict)
    """They extend only each other."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    """For names that no preset has."""

    def is_bundled(self, name: str, source: str) -> bool:
        """Whether this text is the bundled one of this name."""
        return self.bundled.get(name) == source


@dataclass(frozen=True, slots=True)
class Layer:
    """One file."""

    name: str
    """Empty for the file that extends."""
    values: Mapping[str, Any]
    source: str = ""
    is_bundled: bool = False
    is_profile: bool = False
    """It is a consumer's, and another file is laid over it."""

    @property
    def file(self) -> str:
        """Path in the templates folder; "" for the file that extends."""
        folder = "profiles" if self.is_profile or self.name == DEFAULT else "presets"
        return f"{folder}/{self.name}.yaml" if self.name else ""


def layers(source: str, presets: Presets, name: str = "", file: str = "") -> tuple[Layer, ...]:
    """The file and all that it extends, lowest first, each once. Raises `FaultyFiles` with the wrong file.

    name: of the file. file: its name in messages. A file that extends its own name means the bundled one, as `default` always
    does.
    """
    is_profile = name != DEFAULT and presets.profiles.get(name) == source
    own = Layer(name if is_profile or name == DEFAULT else "", {}, source, presets.is_bundled(name, source), is_profile)
    *below_it, last = _stack(presets, (own,), file)
    return (*below_it, Layer("", last.values, source))


def _stack(presets: Presets, above: tuple[Layer, ...], file: str) -> tuple[Layer, ...]:
    own = above[-1]
    values, line = dict(_values(own.source, file)), line_of(own.source, (EXTENDS,))
    names = _names(values.pop(EXTENDS, ()), file, line)
    if own.name == DEFAULT and not own.is_bundled and DEFAULT in presets.bundled:
        names = (DEFAULT, *(name for name in names if name != DEFAULT))
    below: dict[tuple[str, bool], Layer] = {}
    for name in names:
        base = _base(name, own, presets)
        if base is None:
            fix = advice(name, presets.bundled if own.is_bundled else presets.presets.keys() | presets.profiles.keys())
            raise faulty(file, f"it extends {name!r}, and no preset or profile has this name; {fix}", line)
        if (base.file, base.is_bundled) in ((other.file, other.is_bundled) for other in above):
            chain = " extends ".join((*(other.name for other in above if other.name), name))
            raise faulty(file, f"{chain}; take one of them out", line)
        for layer in _stack(presets, (*above, base), base.file):
            below.setdefault((layer.file, layer.is_bundled), layer)
    return (*below.values(), replace(own, values=values))


def _base(name: str, own: Layer, presets: Presets) -> Layer | None:
    is_below = own.is_bundled or (name == own.name and not own.is_profile)
    text = (presets.bundled if is_below else presets.presets).get(name)
    if text is not None:
        return Layer(name, {}, text, presets.is_bundled(name, text))
    text = None if own.is_bundled else presets.profiles.get(name)
    return None if text is None else Layer(name, {}, text, is_profile=True)


def is_shadow(source: str, file: str) -> bool:
    """Whether the file was on trial beside a consumer's: it makes none itself."""
    try:
        return SHADOW_OF in _file_values(source, file)
    except FaultyFiles:  # whoever reads it says why
        return False


def _values(source: str, file: str) -> dict[str, Any]:
    return without_former(_file_values(source, file))


@lru_cache(MAX_TEXTS)
def _file_values(source: str, file: str) -> dict[str, Any]:
    try:
        values = parse_yaml(source) or {}
    except YamlMistake as error:
        raise faulty(file, error.problem, error.line) from error
    except ValueError as error:
        raise faulty(file, str(error)) from error
    if not isinstance(values, dict):
        raise faulty(file, f"it is a {type(values).__name__}, not a mapping of settings")
    tell_former(values, file)  # once a text, for the result is cached
    return values


def merged(stack: tuple[Layer, ...]) -> dict[str, Any]:
    """Plain values. Raises `SettingError` for an unknown section.

    Mappings are merged, an empty one empties; lists replace; `sections` may be name → changes, null removes.
    """
    values: dict[str, Any] = {}
    for layer in stack:
        values = laid_over(values, layer.values)
    return values


def origins(stack: tuple[Layer, ...]) -> dict[Path, Layer]:
    """Path → the last layer that sets it."""
    owners: dict[Path, Layer] = {}
    below: defaultdict[Path, dict[Path, None]] = defaultdict(dict)

    def reset(path: Path) -> None:
        """Drop values at, above and below it."""
        for other in (*(path[:end] for end in range(len(path) + 1)), *below[path]):
            if owners.pop(other, None) is not None:
                for end in range(len(other)):
                    del below[other[:end]][other]

    for layer in stack:
        if isinstance(layer.values.get(SECTIONS), list):
            reset((SECTIONS,))
        for path, _ in leaves(layer.values):
            reset(path)
            owners[path] = layer
            for end in range(len(path)):
                below[path[:end]][path] = None
    return owners


def leaves(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value but mappings; sections under their names."""
    for key, value in values.items():
        path = (*above, str(key))
        is_named = path == (SECTIONS,) and isinstance(value, list)
        inner = {str(each.get("name")): each for each in value if isinstance(each, Mapping)} if is_named else value
        if isinstance(inner, Mapping) and inner:
            yield from leaves(inner, path)
        else:
            yield path, inner


def _names(value: Any, file: str, line: int) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise faulty(file, f"extends is {value!r}; give the name of a preset or a profile, or a list of names", line)
    return tuple(names)


def laid_over(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """See `merged`."""
    values = dict(lower)
    for key, value in upper.items():
        under = values.get(key)
        if key == SECTIONS and isinstance(under, list) and isinstance(value, dict):
            values[key] = _patched(under, value)
        elif isinstance(under, dict) and isinstance(value, dict) and value:
            values[key] = laid_over(under, value)
        else:
            values[key] = value
    return values


HALVES = {"recent": "window", "relevant": "retrieval"}
"""Sections that change names where one conversation is: it becomes these two. Name → source."""


def _patched(sections: list[dict[str, Any]], changes: dict[str, Any]) -> list[dict[str, Any]]:
    if HALVES.keys() & (changes.keys() - {section.get("name") for section in sections}):
        sections = [half for section in sections for half in _halves(section)]
    if unknown := changes.keys() - {section.get("name") for section in sections}:
        name, names = min(unknown), [str(section.get("name")) for section in sections]
        names += HALVES if any(section.get("source") == "conversation" for section in sections) else ()
        raise SettingError((SECTIONS, name), "no section has this name", f"{advice(name, names)}, or write sections as a list")
    patches = ((section, changes.get(str(section.get("name")), {})) for section in sections)
    return [section | patch for section, patch in patches if patch is not None]


def _halves(section: dict[str, Any]) -> list[dict[str, Any]]:
    if section.get("source") == "conversation":
        return [{"name": name, "source": source, "class": section.get("class", "turn")} for name, source in HALVES.items()]
    return [] if section.get("source") == "elsewhere" else [section]
