"""A profile file over what it extends: the merged values, and the origin of each value."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from builder.domain.lint_finding import advice, faulty
from builder.wire.files import YamlMistake, line_of, parse_yaml

Path = tuple[str, ...]
"""Steps to a setting; a section's step is its name."""
EXTENDS, SECTIONS, SHADOW_OF = "extends", "sections", "shadow_of"
MAX_TEXTS = 256
"""Whose values are remembered."""
DEFAULT = "default"
"""The profile that is laid over the bundled one of its name."""


class UnknownSection(ValueError):  # noqa: N818 - what it is about
    """A change of a section that does not exist."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class Presets:
    """What files may extend, by name: YAML texts, and `default`, the default profile."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """The bundled ones, with an author's own in the place of those of the same name."""
    bundled: Mapping[str, str] = field(default_factory=dict)
    """The bundled ones alone: what they extend themselves."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    """Profile files, by name: what a shadow of one lies over, where it extends nothing else."""

    def is_bundled(self, name: str, source: str) -> bool:
        """Whether this text is the bundled one of this name."""
        return self.bundled.get(name) == source


@dataclass(frozen=True, slots=True)
class Layer:
    """One file."""

    name: str
    """Of the preset; "" for the file that extends."""
    values: Mapping[str, Any]
    source: str = ""
    """Its YAML text."""
    is_bundled: bool = False
    is_profile: bool = False
    """It is that of a consumer, whose shadow lies over it."""

    @property
    def file(self) -> str:
        """Path in the templates folder; "" for the file that extends."""
        folder = "profiles" if self.is_profile or self.name == DEFAULT else "presets"
        return f"{folder}/{self.name}.yaml" if self.name else ""


def layers(source: str, presets: Presets, name: str = "", file: str = "") -> tuple[Layer, ...]:
    """The file and all that it extends, lowest first, each once. Raises `FaultyFiles` with the file that is wrong.

    name: of the file. file: what it is called in a message. A file that extends its own name means the bundled one; `default`
    does so by itself. A shadow that extends nothing lies over the file of its consumer.
    """
    values = _values(source, file)
    consumer = str(values.get(SHADOW_OF))
    if consumer in presets.profiles and EXTENDS not in values:
        below = f"profiles/{consumer}.yaml"
        if SHADOW_OF not in _values(presets.profiles[consumer], below):
            *lower, top = layers(presets.profiles[consumer], presets, consumer, below)
            return (*lower, replace(top, name=consumer, is_profile=True), Layer("", values, source))
    own = (DEFAULT,) if name == DEFAULT else ("",)
    *below_it, last = _stack(source, presets, own, file, is_bundled=presets.is_bundled(name, source))
    return (*below_it, Layer("", last.values, source))


def _stack(source: str, presets: Presets, above: tuple[str, ...], file: str, *, is_bundled: bool) -> tuple[Layer, ...]:
    """above: the names of the files that extend this one, and its own."""
    values, line = dict(_values(source, file)), line_of(source, (EXTENDS,))
    names, own = _names(values.pop(EXTENDS, ()), file, line), above[-1]
    if own == DEFAULT and not is_bundled and DEFAULT in presets.bundled:
        names = (DEFAULT, *(name for name in names if name != DEFAULT))
    choices = presets.bundled if is_bundled else presets.texts
    below: dict[tuple[str, bool], Layer] = {}
    for preset in names:
        text = presets.bundled.get(preset) if preset == own and not is_bundled else choices.get(preset)
        bundled = text is not None and presets.is_bundled(preset, text)
        if preset in above and not (preset == own and bundled and not is_bundled):
            raise faulty(file, f"{' extends '.join((*filter(None, above), preset))}; take one of them out", line)
        if text is None:
            fix = f"move profiles/{preset}.yaml to presets/" if preset in presets.profiles else advice(preset, choices)
            raise faulty(file, f"it extends {preset!r}, and no preset has this name; {fix}", line)
        for layer in _stack(text, presets, (*above, preset), Layer(preset, {}).file, is_bundled=bundled):
            below.setdefault((layer.name, layer.is_bundled), layer)
    return (*below.values(), Layer(own, values, source, is_bundled))


@lru_cache(MAX_TEXTS)
def _values(source: str, file: str) -> dict[str, Any]:
    """Of one file; nobody changes them. Presets are read again for each profile that extends them."""
    try:
        values = parse_yaml(source) or {}
    except YamlMistake as error:
        raise faulty(file, error.problem, error.line) from error
    except ValueError as error:
        raise faulty(file, str(error)) from error
    if not isinstance(values, dict):
        raise faulty(file, f"it is a {type(values).__name__}, not a mapping of settings")
    return values


def merged(stack: tuple[Layer, ...]) -> dict[str, Any]:
    """Plain values. Raises `ValueError` for a change of a section that does not exist.

    Mappings are merged, an empty one empties; lists replace each other, but `sections` may be a mapping: name → what changes
    in that section, null takes it out.
    """
    values: dict[str, Any] = {}
    for layer in stack:
        values = _merge(values, layer.values)
    return values


def origins(stack: tuple[Layer, ...]) -> dict[Path, Layer]:
    """Path of each value that some file sets → the last layer that sets it."""
    owners: dict[Path, Layer] = {}
    below: defaultdict[Path, dict[Path, None]] = defaultdict(dict)

    def reset(path: Path) -> None:
        """Drop the values at, above and below a path."""
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
    """Every value but mappings, with its path; sections under their names."""
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
        raise faulty(file, f"extends is {value!r}; give the name of a preset, or a list of names", line)
    return tuple(names)


def _merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(lower)
    for key, value in upper.items():
        under = values.get(key)
        if key == SECTIONS and isinstance(value, dict):
            values[key] = _patched(under if isinstance(under, list) else [], value)
        elif isinstance(under, dict) and isinstance(value, dict) and value:
            values[key] = _merge(under, value)
        else:
            values[key] = value
    return values


def _patched(sections: list[dict[str, Any]], changes: dict[str, Any]) -> list[dict[str, Any]]:
    if unknown := changes.keys() - {section.get("name") for section in sections}:
        name, names = min(unknown), [str(section.get("name")) for section in sections]
        raise UnknownSection(name, f"no section has this name; {advice(name, names)}, or write sections as a list")
    patches = ((section, changes.get(str(section.get("name")), {})) for section in sections)
    return [section | patch for section, patch in patches if patch is not None]
