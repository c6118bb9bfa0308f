"""Profiles and templates as they stood at one moment: read as a whole, replaced as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from builder.adapters.profiles.layers import DEFAULT
from builder.adapters.profiles.models import parse_models
from builder.adapters.profiles.profiles import Library, parse_profile
from builder.adapters.templates.cuts.shorten import CHARACTERS_PER_TOKEN
from builder.adapters.templates.failures import Failures, Listener, silence
from builder.adapters.templates.folder import TemplateSet, read_folders, read_languages
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.trial import faults
from builder.adapters.tokens import load_counter
from builder.app.resources import bundled_folder
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import FaultyFiles, LintFinding
from builder.domain.nearest import advice
from builder.domain.profile import Profile
from builder.wire.files import line_of, read_source

MODELS = "models.yaml"
KINDS = ("profiles/*.yaml", "presets/*.yaml", MODELS, "hints/*.md.j2", "pages/*.md.j2", "phrases/*.yaml")
"""The files of a snapshot, in each of its folders."""

FileStamps = frozenset[tuple[str, int, int, int]]
"""Path, inode, size and time of change (ns) of every file; they differ after a file was edited, added or removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSnapshot:
    """Profiles and templates of one moment. A context is built from one snapshot."""

    profiles: tuple[Profile, ...]
    """By name."""
    library: Library
    """The presets and models that profiles may name."""
    templates: TemplateSet
    renderings: Mapping[str, JinjaRendering]
    """By encoding."""
    failures: Failures
    """What the templates could not render."""
    stamps: FileStamps
    """Of the files before they were read."""


def read_config(
    folders: tuple[Path, ...], previous: ConfigSnapshot | None = None, failed: Listener = silence, preset: str = ""
) -> ConfigSnapshot:
    """Read all files. folders: the bundled one first. Raises `Misconfigured`.

    previous: its renderings and their caches are used again if no template changed. failed: called for each breadcrumb that
    a template cannot render. preset: one that is read as a profile too, if there is no profile of this name.
    """
    for folder in folders:
        if not folder.is_dir():
            raise Misconfigured(
                f"{folder} is no folder; make it, or set CONTEXT_BUILDER_TEMPLATES_DIR to where the templates are"
            )
    stamps = file_stamps(folders)
    try:
        library = load_library(folders)
        profiles = load_profiles(folders, library)
        if preset in library.presets and all(profile.consumer != preset for profile in profiles):
            profiles = (*profiles, read_preset(preset, library))
        templates = TemplateSet(*read_folders(folders))
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"a template cannot be read: {error}; write it as UTF-8, readable for the service") from error
    before = previous if previous and previous.templates.revision == templates.revision else None
    former, failures = (before.renderings, before.failures) if before else ({}, Failures(failed))
    if not before:
        _try(templates)
    _check_pages(profiles, templates, folders)
    plain = TemplateSet(*read_folders(folders[:1])) if folders[1:] else templates
    encodings = sorted({profile.encoding for profile in profiles})
    renderings = {
        encoding: _rendering(encoding, profiles, templates, former.get(encoding), plain, failures) for encoding in encodings
    }
    return ConfigSnapshot(
        profiles=profiles, library=library, templates=templates, renderings=renderings, failures=failures, stamps=stamps
    )


def _check_pages(profiles: tuple[Profile, ...], templates: TemplateSet, folders: tuple[Path, ...]) -> None:
    """Every profile's page and own hints exist. Raises `FaultyFiles`."""
    texts, pages = sources(folders, "profiles"), templates.sources["pages"]
    findings = [
        LintFinding(
            file=f"profiles/{profile.consumer}.yaml",
            line=line_of(texts.get(profile.consumer, ""), ("page",)),
            place="`page`",
            problem=f"pages/{profile.page}.md.j2 does not exist",
            fix=advice(profile.page, pages),
        )
        for profile in profiles
        if profile.page not in pages
    ]
    findings += [
        LintFinding(
            file=f"profiles/{profile.consumer}.yaml",
            line=line_of(texts.get(profile.consumer, ""), ("hints", schema)),
            place="`hints`",
            problem=f"hints/{name}.md.j2 does not exist",
            fix=advice(name, templates.sources["hints"]),
        )
        for profile in profiles
        for schema, name in profile.hints.items()
        if name not in templates.sources["hints"]
    ]
    if findings:
        raise FaultyFiles(findings)


def _try(templates: TemplateSet) -> None:
    """Templates come into force only when all of them can do something with the examples. Raises `Misconfigured`."""
    if problems := tuple(faults(templates)):
        raise FaultyFiles(problems)


def _rendering(
    encoding: str,
    profiles: tuple[Profile, ...],
    templates: TemplateSet,
    former: JinjaRendering | None,
    plain: TemplateSet,
    failures: Failures,
) -> JinjaRendering:
    """The known one, if it is for pages as large as these. plain: the bundled templates."""
    max_text_chars = CHARACTERS_PER_TOKEN * max(profile.allowance for profile in profiles if profile.encoding == encoding)
    if former and former.max_chars == max_text_chars:
        return former
    return JinjaRendering(templates, load_counter(encoding), plain, failures, max_text_chars)


def file_stamps(folders: tuple[Path, ...]) -> FileStamps:
    """A file that goes away meanwhile has no trace."""
    stamps = set()
    for file in (file for folder in folders for kind in KINDS for file in folder.glob(kind)):
        try:
            state = file.stat()
        except FileNotFoundError:
            continue
        stamps.add((str(file), state.st_ino, state.st_size, state.st_mtime_ns))
    return frozenset(stamps)


def template_folders(settings: Settings) -> tuple[Path, ...]:
    """The bundled templates, and the operator's laid over them."""
    extra = (settings.templates_dir.expanduser(),) if settings.templates_dir else ()
    return (bundled_folder("templates"), *extra)


def load_profiles(folders: tuple[Path, ...], library: Library) -> tuple[Profile, ...]:
    """All profiles by name; a later folder's file wins. Raises `Misconfigured`."""
    return tuple(parse_profile(name, source, library) for name, source in sorted(sources(folders, "profiles").items()))


def read_preset(name: str, library: Library) -> Profile:
    """A profile that is this preset and nothing else. Raises `FaultyFiles`."""
    return parse_profile(name, library.presets[name], library, f"presets/{name}.yaml")


def load_library(folders: tuple[Path, ...]) -> Library:
    """What profiles may extend, the default profile included, and the models they may name. Raises `Misconfigured`."""
    presets, bundled = _presets(folders), _presets(folders[:1])
    tables = (folder / MODELS for folder in folders)
    models = {name: facts for table in tables if table.exists() for name, facts in parse_models(read_source(table)).items()}
    return Library(presets=presets, bundled=bundled, languages=read_languages(folders), models=models)


def _presets(folders: tuple[Path, ...]) -> dict[str, str]:
    """The presets and the default profile."""
    return sources(folders, "presets") | {DEFAULT: sources(folders, "profiles")[DEFAULT]}


def sources(folders: tuple[Path, ...], kind: str) -> dict[str, str]:
    """Name → YAML text of the "profiles" or the "presets"; a later folder's file wins."""
    return {file.stem: read_source(file) for folder in folders for file in sorted((folder / kind).glob("*.yaml"))}
