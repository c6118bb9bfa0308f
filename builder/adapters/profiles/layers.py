"""A profile file over what it extends: the merged values, and the origin of each value."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from builder.wire.files import parse_yaml

Path = tuple[str, ...]
"""Steps to a setting; a section's step is its name."""
SECTIONS = "sections"


@dataclass(frozen=True, slots=True)
class Layer:
    """One file."""

    name: str
    """Of the preset; "" for the file that extends."""
    values: Mapping[str, Any]


def layers(source: str, presets: Mapping[str, str], above: tuple[str, ...] = ()) -> tuple[Layer, ...]:
    """The file and all that it extends, lowest first, each once. Raises `ValueError` naming the preset, and `yaml.YAMLError`.

    presets: name → YAML text. above: the chain of presets that extend this source.
    """
    values = parse_yaml(source) or {}
    if not isinstance(values, dict):
        raise ValueError(f"it is a {type(values).__name__}, not a mapping of settings")  # noqa: TRY004 - one family of reasons
    below: dict[str, Layer] = {}
    for preset in _names(values.pop("extends", ())):
        if preset in above:
            raise ValueError(f"{' extends '.join((*above, preset))}; take one of them out")
        if preset not in presets:
            raise ValueError(f"it extends {preset!r}, which is none of {', '.join(sorted(presets)) or 'no presets'}")
        for layer in _of_preset(preset, presets, above):
            below.setdefault(layer.name, layer)
    return (*below.values(), Layer(above[-1] if above else "", values))


def _of_preset(preset: str, presets: Mapping[str, str], above: tuple[str, ...]) -> tuple[Layer, ...]:
    try:
        return layers(presets[preset], presets, (*above, preset))
    except yaml.YAMLError as error:
        raise ValueError(f"preset {preset!r} is not readable: {error}") from error


def merged(stack: tuple[Layer, ...]) -> dict[str, Any]:
    """Plain values. Raises `ValueError` for a change of a section that does not exist.

    Mappings are merged, an empty one empties; lists replace each other, but `sections` may be a mapping: name → what changes
    in that section, null takes it out.
    """
    values: dict[str, Any] = {}
    for layer in stack:
        values = _merge(values, layer.values)
    return values


def origins(stack: tuple[Layer, ...]) -> dict[Path, str]:
    """Path of each value that some file sets → the name of the last layer that sets it."""
    names: dict[Path, str] = {}
    below: defaultdict[Path, dict[Path, None]] = defaultdict(dict)

    def reset(path: Path) -> None:
        """Drop the values at, above and below a path."""
        for other in (*(path[:end] for end in range(len(path) + 1)), *below[path]):
            if names.pop(other, None) is not None:
                for end in range(len(other)):
                    del below[other[:end]][other]

    for layer in stack:
        if isinstance(layer.values.get(SECTIONS), list):
            reset((SECTIONS,))
        for path, _ in leaves(layer.values):
            reset(path)
            names[path] = layer.name
            for end in range(len(path)):
                below[path[:end]][path] = None
    return names


def leaves(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value but mappings, with its path; sections under their names."""
    for key, value in values.items():
        path = (*above, str(key))
        inner = _by_name(value) if path == (SECTIONS,) and isinstance(value, list) else value
        if isinstance(inner, Mapping) and inner:
            yield from leaves(inner, path)
        else:
            yield path, inner


def _by_name(sections: list[Any]) -> dict[str, Any]:
    return {str(section.get("name")): section for section in sections if isinstance(section, Mapping)}


def _names(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"extends is {value!r}; give the name of a preset, or a list of names")
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
        raise ValueError(f"sections changes {', '.join(sorted(unknown))}, which no section is called; write the whole list")
    patches = ((section, changes.get(str(section.get("name")), {})) for section in sections)
    return [section | patch for section, patch in patches if patch is not None]
