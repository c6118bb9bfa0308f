"""The merged and derived profile, each value with its origin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from builder.adapters.profiles.former_settings import SECTIONS
from builder.adapters.profiles.layers import Layer, Path, leaves, merged, origins
from builder.adapters.profiles.profile_file import ProfileFile
from builder.adapters.profiles.profiles import Library, parse_profile

DEFAULT = "default"
DERIVED = ("budget", "encoding", "margin")
"""A model's facts give them where no file does."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a profile."""

    path: Path
    value: Any
    origin: str
    """A file, models.yaml, or "default"."""

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)


def profile_settings(name: str, source: str, library: Library, file: str) -> tuple[Setting, ...]:
    """In the order of `schemas/profile.json`. file: name of the source. Raises `Misconfigured`."""
    profile = parse_profile(name, source, library, file)
    stack = library.layers(name, source)
    owners = origins(stack)
    values = ProfileFile.model_validate(merged(stack)).model_dump(mode="json", by_alias=True, exclude={"extends"})
    derived = {name for name in DERIVED if values[name] is None}
    values |= {name: getattr(profile, name) for name in derived}
    headings = _fill_headings(values[SECTIONS], {rule.name: rule.title for rule in profile.sections})

    def origin(path: Path) -> str:
        if path[0] in derived:
            return f"models.yaml ({values['model']})" if values["model"] else DEFAULT
        if path in headings:
            return f"phrases/{profile.language}.yaml"
        return _file(owners[path], file) if path in owners else DEFAULT

    return tuple(Setting(path, value, origin(path)) for path, value in leaves(values))


def _fill_headings(sections: list[dict[str, Any]], titles: Mapping[str, str]) -> frozenset[Path]:
    without = [section for section in sections if section["title"] is None and section["name"] in titles]
    for section in without:
        section["title"] = titles[section["name"]]
    return frozenset((SECTIONS, section["name"], "title") for section in without)


def as_yaml(settings: tuple[Setting, ...]) -> str:
    """A complete profile file, with origins as comments."""
    return "\n".join(_lines(settings)) + "\n"


def differing(one: tuple[Setting, ...], other: tuple[Setting, ...]) -> tuple[tuple[str, Any, Any], ...]:
    """Name and both values; None = not set."""
    former, latter = ({setting.name: setting.value for setting in settings} for settings in (one, other))
    names = dict.fromkeys((*former, *latter))
    return tuple((name, former.get(name), latter.get(name)) for name in names if former.get(name) != latter.get(name))


def _lines(settings: tuple[Setting, ...]) -> Iterator[str]:
    before: Path = ()
    for setting in settings:
        *above, key = setting.path
        shared = next((n for n, pair in enumerate(zip(above, before[:-1], strict=False)) if pair[0] != pair[1]), None)
        depth_above = min(len(above), len(before) - 1) if shared is None else shared
        dash = ""
        for depth in range(max(depth_above, 0), len(above)):
            if above[0] == SECTIONS and depth == 1:
                dash = "- "  # a section: its name is its first value
            else:
                yield f"{'  ' * depth}{_flow(above[depth])}:"
        depth = len(above)
        indent = "  " * depth if not dash else "  " * (depth - 1) + dash
        yield f"{indent}{_flow(key)}: {_flow(setting.value)}  # {setting.origin}"
        before = setting.path


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...").strip()


def _file(layer: Layer, file: str) -> str:
    return f"bundled {file}" if layer.file == file else layer.file or file
