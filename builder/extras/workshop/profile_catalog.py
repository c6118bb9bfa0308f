"""Profiles and templates of the folders for authors: listed, shown, compared, linted."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from builder.adapters.files import FaultyFiles, line_of
from builder.adapters.profiles.layers import Layer, merged, origins
from builder.adapters.profiles.problems import layer_of, setting_name
from builder.adapters.profiles.profiles import Library, parse_profile
from builder.adapters.templates.faults import body_fields
from builder.adapters.templates.folder import ENGLISH, GENERIC, SUFFIX, TemplateSet, templates_of
from builder.adapters.tokens import load_counter
from builder.app.config import load_library, read_layers, sources, template_folders
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import NAME_LIKENESS, LintFinding, advice, nearest
from builder.domain.profile import Profile
from builder.extras.workshop.profile_lint import Finding, LintFacts, lint_profile, schemas_of
from builder.extras.workshop.profile_views import Setting, profile_settings
from builder.extras.workshop.template_files import stray_files, untranslated
from builder.extras.workshop.template_lint import lint_templates, moving, overused
from builder.remember.decode import BODIES

KINDS = ("hints/", "pages/")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A profile or a preset."""

    name: str
    kind: Literal["profile", "preset"]
    source: str
    """YAML."""

    @property
    def file(self) -> str:
        """Path in the templates folder."""
        return f"{self.kind}s/{self.name}.yaml"

    @property
    def about(self) -> str:
        """The comment that it begins with."""
        lines = self.source.split("\n")
        end = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
        return " ".join(line.removeprefix("#").strip() for line in lines[:end])


class ProfileCatalog:
    """All profiles and presets as they are now."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        """Raises `Misconfigured` for unreadable phrases or models; other broken files are findings."""
        self._own = folders[1:]
        self._profiles: dict[str, Profile] = {}
        layers = read_layers(folders)
        self.library: Library = load_library(layers)
        self.hints, self.pages, languages = templates_of(layers)
        self._bundled_hints, _, self._bundled_languages = templates_of(layers[:1])
        self.templates, self._uncompiled = _compiled(self.hints, self.pages, languages)
        profiles, presets = sources(layers, "profiles"), sources(layers, "presets")
        self.all = tuple(CatalogEntry(name=name, kind="profile", source=profiles[name]) for name in sorted(profiles)) + tuple(
            CatalogEntry(name=name, kind="preset", source=presets[name]) for name in sorted(presets.keys() - profiles.keys())
        )

    def entry(self, name: str) -> CatalogEntry:
        """Raises `Misconfigured` with the known names."""
        for entry in self.all:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self.all]
        near = nearest(name, names, NAME_LIKENESS)
        fix = f"write {near}; " if near else ""
        raise Misconfigured(f"there is no profile or preset {name!r}; {fix}known are {', '.join(names)}")

    def profile(self, entry: CatalogEntry) -> Profile:
        """As the service would read it. Raises `FaultyFiles`."""
        if entry.file not in self._profiles:
            self._profiles[entry.file] = parse_profile(entry.name, entry.source, self.library, entry.file)
        return self._profiles[entry.file]

    def _readable(self) -> Iterator[tuple[CatalogEntry, Profile]]:
        for entry in self.all:
            with contextlib.suppress(FaultyFiles):
                yield entry, self.profile(entry)

    def settings(self, name: str) -> tuple[Setting, ...]:
        """Every setting of one. Raises `Misconfigured`."""
        entry = self.entry(name)
        return profile_settings(entry.name, entry.source, self.library, entry.file)

    def findings(self, names: tuple[str, ...] = ()) -> tuple[LintFinding, ...]:
        """names: these profiles and their templates; () = all. Raises `Misconfigured` for an unknown name."""
        entries = tuple(map(self.entry, names)) or self.all
        facts = LintFacts(
            moving={name: moving(source) for name, source in self.templates.sources["hints"].items()},
            models=self.library.models,
            overused=overused,
            count=load_counter,
        )
        profiles = [each for entry in entries for each in self._profile(entry, facts)]
        files = None if not names else self._files_of(entries)
        templates = [*self._uncompiled, *lint_templates(self.templates), *self._own_fields()]
        chosen = [each for each in templates if files is None or each.file in files]
        return tuple(dict.fromkeys((*self._files(), *chosen, *profiles)))

    def _files(self) -> Iterator[LintFinding]:
        """Names in the author's folder that nobody reads, and hints that nobody shows."""
        visible, chosen = self._visible_schemas(), {name for _, name in self._own_hints()}
        served = {*BODIES, *self._bundled_hints}
        for folder in self._own:
            yield from untranslated(folder, self.library.languages[ENGLISH], self._bundled_languages)
            strays = tuple(stray_files(folder, served, {*(visible or ()), *chosen}))
            yield from strays
            names = {file.name.removesuffix(SUFFIX) for file in (folder / "hints").glob(f"*{SUFFIX}")}
            hidden = set() if visible is None else names - visible - served - chosen
            for schema in sorted(hidden):
                file, fix = f"hints/{schema}{SUFFIX}", f"add {schema} to retrieval.schemas or pinned of a profile"
                if all(stray.file != file for stray in strays):
                    yield LintFinding(file=file, place="", problem=f"no profile shows {schema!r}", fix=fix, severity="note")

    def _own_hints(self) -> frozenset[tuple[str, str]]:
        """Schema and name of each hint that a profile chooses itself."""
        return frozenset(pair for _, profile in self._readable() for pair in profile.hints.items())

    def _own_fields(self) -> Iterator[LintFinding]:
        hints = self.templates.sources["hints"]
        for schema, name in sorted(self._own_hints()):
            if name in hints and name != schema:
                yield from (fault.of_file(f"hints/{name}{SUFFIX}") for fault in body_fields(schema, hints[name]))

    def _visible_schemas(self) -> frozenset[str] | None:
        """By all profiles; None = any."""
        own = [schemas_of(profile) for entry, profile in self._readable() if entry.kind == "profile"]
        return None if None in own else frozenset(schema for schemas in own for schema in schemas or ())

    def _files_of(self, entries: tuple[CatalogEntry, ...]) -> frozenset[str] | None:
        """Used templates; None = all, where a profile cannot be read."""
        files: set[str] = {f"hints/{GENERIC}{SUFFIX}"}
        try:
            profiles = [self.profile(entry) for entry in entries]
        except FaultyFiles:
            return None
        for profile in profiles:
            schemas = schemas_of(profile)
            files.add(f"pages/{profile.page}{SUFFIX}")
            names = {*(self.hints if schemas is None else schemas), *profile.hints.values()}
            files.update(f"hints/{name}{SUFFIX}" for name in names)
        return frozenset(files)

    def _profile(self, entry: CatalogEntry, facts: LintFacts) -> Iterator[LintFinding]:
        try:
            profile = self.profile(entry)
        except FaultyFiles as error:
            yield from error.findings
            return
        stack = self.library.layers(entry.name, entry.source)
        findings = lint_profile(profile, merged(stack).get("model"), facts, as_preset=entry.kind == "preset")
        for finding in findings:
            layer = layer_of(tuple(finding.setting.split(".")), stack, origins(stack))
            if not (finding.is_of_author and layer.is_bundled):
                yield _at_place(finding, layer, stack, entry.file)


def open_catalog(settings: Settings) -> ProfileCatalog:
    """Raises `Misconfigured`."""
    return ProfileCatalog(template_folders(settings))


def lint_folders(settings: Settings, names: tuple[str, ...] = ()) -> tuple[int, tuple[LintFinding, ...]]:
    """Number of profiles and presets, and findings. names: only these. Raises `Misconfigured` for an unknown name.

    Broken phrases are the only findings, because every page needs them.
    """
    try:
        catalog = open_catalog(settings)
        return len(names) or len(catalog.all), catalog.findings(names)
    except FaultyFiles as error:
        return 0, error.findings


def template_findings(settings: Settings, names: tuple[str, ...] = ()) -> tuple[LintFinding, ...]:
    """names: only these hints. Raises `Misconfigured` for an unknown name."""
    _check(settings, names)
    files = {f"hints/{name}{SUFFIX}" for name in names}
    _, findings = lint_folders(settings)
    return tuple(each for each in findings if each.file.startswith(KINDS) and (not names or each.file in files))


def _at_place(finding: Finding, layer: Layer, stack: tuple[Layer, ...], file: str) -> LintFinding:
    path = tuple(finding.setting.split("."))
    if layer.is_bundled:  # what is wrong with it comes of the author's file
        layer = stack[-1]
    line = line_of(layer.source, path)
    word = re.search(r"'([^']+)'", finding.problem)
    lines = layer.source.split("\n")
    if line and word:
        line = next((number for number in range(line, len(lines) + 1) if word[1] in lines[number - 1]), line)
    return LintFinding(
        file=layer.file or file,
        line=line,
        place=setting_name(path),
        problem=finding.problem,
        fix=finding.fix,
        severity=finding.severity,
    )


def _compiled(
    hints: dict[str, str], pages: dict[str, str], languages: dict[str, dict[str, str]]
) -> tuple[TemplateSet, tuple[LintFinding, ...]]:
    try:
        return TemplateSet(hints, pages, languages), ()
    except FaultyFiles as error:
        broken = {finding.file for finding in error.findings}
        sound_hints = {name: source for name, source in hints.items() if f"hints/{name}{SUFFIX}" not in broken}
        sound_pages = {name: source for name, source in pages.items() if f"pages/{name}{SUFFIX}" not in broken}
        return TemplateSet({GENERIC: "{{ text }}"} | sound_hints, sound_pages, languages), error.findings


def _check(settings: Settings, names: tuple[str, ...]) -> None:
    hints, _, _ = templates_of(read_layers(template_folders(settings)))
    for name in names:
        if name not in hints:
            raise Misconfigured(f"there is no hint {name!r}; {advice(name, hints.keys() - {GENERIC})}")
