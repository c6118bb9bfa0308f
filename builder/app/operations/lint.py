"""The profiles of the templates folders, for their authors: listed, shown, compared, linted. Needs no store and no engine."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from builder.adapters.profiles.layers import layers, merged
from builder.adapters.profiles.lint import LintFacts, lint_profile
from builder.adapters.profiles.profiles import Library, parse_profile
from builder.adapters.templates.folder import TemplateSet, read_folders
from builder.adapters.templates.lint import lint_templates, moving, overused
from builder.adapters.tokens import load_counter
from builder.app.config import load_library, sources, template_folders
from builder.app.operations.profile_views import Setting, shown
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A profile or a preset. source: its YAML text."""

    name: str
    kind: Literal["profile", "preset"]
    source: str

    @property
    def file(self) -> str:
        """Where it stands in the templates folder."""
        return f"{self.kind}s/{self.name}.yaml"

    @property
    def about(self) -> str:
        """The comment that it begins with."""
        lines = self.source.split("\n")
        end = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
        return " ".join(line.removeprefix("#").strip() for line in lines[:end])


class ProfileCatalog:
    """All of them as they are now."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        """Raises `Misconfigured` when the table of models cannot be read; a broken profile is a finding."""
        self.library: Library = load_library(folders)
        self.hints, self.pages, _ = read_folders(folders)
        self.templates = _compiled(self.hints, self.pages)
        profiles, presets = sources(folders, "profiles"), sources(folders, "presets")
        self.all = tuple(Entry(name=name, kind="profile", source=profiles[name]) for name in sorted(profiles)) + tuple(
            Entry(name=name, kind="preset", source=presets[name]) for name in sorted(presets.keys() - profiles.keys())
        )

    def named(self, name: str) -> Entry:
        """Raises `Misconfigured` with the known names."""
        for held in self.all:
            if held.name == name:
                return held
        raise Misconfigured(f"there is no profile or preset {name!r}; known are {', '.join(held.name for held in self.all)}")

    def profile(self, held: Entry) -> Profile:
        """As the service would read it. Raises `Misconfigured`."""
        try:
            return parse_profile(held.name, held.source, self.library)
        except Misconfigured as error:
            raise Misconfigured(str(error).replace(f"profiles/{held.name}.yaml", held.file, 1)) from error

    def shown(self, name: str) -> tuple[Setting, ...]:
        """Every setting of one. Raises `Misconfigured`."""
        held = self.named(name)
        self.profile(held)
        return shown(held.name, held.source, self.library, held.file)

    def findings(self, names: tuple[str, ...] = ()) -> tuple[LintFinding, ...]:
        """What is wrong with these, or with all and the templates. Raises `Misconfigured` for an unknown name."""
        wanted = tuple(map(self.named, names)) or self.all
        templates = () if names else tuple(self._templates())
        known = LintFacts(
            moving={
                name: moving(source) if isinstance(self.templates, TemplateSet) else () for name, source in self.hints.items()
            },
            pages=frozenset(self.pages),
            models=self.library.models,
            overused=overused,
            count=load_counter,
        )
        return (*templates, *(finding for held in wanted for finding in self._profile(held, known)))

    def _templates(self) -> Iterator[LintFinding]:
        """Those that do not compile are one finding: what is in them cannot be looked at."""
        if isinstance(self.templates, TemplateSet):
            yield from lint_templates(self.templates)
            return
        file, _, problem = self.templates.partition(" ")
        yield LintFinding(file=file, place="", problem=problem, fix="until then the last good ones are in force")

    def _profile(self, held: Entry, known: LintFacts) -> Iterator[LintFinding]:
        try:
            profile = self.profile(held)
        except Misconfigured as error:
            file, _, problem = str(error).partition(": ")
            yield LintFinding(file=held.file, place="", problem=problem or file, fix="until then the last good one is in force")
            return
        model = merged(layers(held.source, self.library.presets)).get("model")
        for place, problem, fix in lint_profile(profile, model, known, as_preset=held.kind == "preset"):
            yield LintFinding(file=held.file, place=place, problem=problem, fix=fix)


def open_catalog(settings: Settings) -> ProfileCatalog:
    """The profiles and presets of the settings' templates. Raises `Misconfigured`."""
    return ProfileCatalog(template_folders(settings))


def _compiled(hints: dict[str, str], pages: dict[str, str]) -> TemplateSet | str:
    """The templates, or why they do not compile."""
    try:
        return TemplateSet(hints, pages)
    except Misconfigured as error:
        return str(error)
