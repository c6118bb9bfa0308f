"""Profiles and templates of one moment, of the bundled and the author's folder."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TypeVar

from builder.adapters.files import FaultyFiles, Files, by_name, faulty, read_files
from builder.adapters.profiles.layers import DEFAULT, is_shadow
from builder.adapters.profiles.profile_file import NO_FORMAT
from builder.adapters.profiles.profiles import Library, parse_models, parse_profile
from builder.adapters.templates.cuts.shorten import CHARACTERS_PER_TOKEN
from builder.adapters.templates.folder import YAML, TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.templates.page_rendering import Failures, Listener, silence
from builder.adapters.templates.trial import faults
from builder.adapters.tokens import load_counter
from builder.app.settings import Settings
from builder.domain.edition import Edition
from builder.domain.errors import Misconfigured
from builder.domain.page_settings import DEFAULT_BUDGET
from builder.domain.profile import Profile
from builder.extra import additions

Value = TypeVar("Value")

MODELS = "models.yaml"
KINDS = ("profiles/*.yaml", "presets/*.yaml", MODELS, "hints/*.md.j2", "pages/*.md.j2", "phrases/*.yaml")

FileStamps = frozenset[tuple[str, int, int, int]]
"""Path, inode, size, change time (ns)."""


def bundled_folder(name: str) -> Path:
    """name: `templates` or `schemas`. Raises `Misconfigured` when the installation is broken."""
    package = Path(str(files("builder")))
    for folder in (package / "_resources" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise Misconfigured(f"the folder {name!r} is missing from the installation at {package}; install the package again")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSnapshot:
    """Profiles and templates of one moment; each context uses one snapshot."""

    profiles: tuple[Profile, ...]
    library: Library
    templates: TemplateSet
    renderings: Mapping[str, JinjaRendering]
    """By encoding."""
    failures: Failures
    layers: tuple[Files, ...]
    """Bundled first."""
    stamps: FileStamps = frozenset()
    """Taken before the files were read."""
    problem: str = ""
    """Why it is an earlier edition."""


def read_config(
    folders: tuple[Path, ...], previous: ConfigSnapshot | None = None, failed: Listener = silence, preset: str = ""
) -> ConfigSnapshot:
    """folders: bundled first. The rest as in `parse_config`."""
    stamps = file_stamps(folders)
    return replace(parse_config(read_layers(folders), previous, failed, preset), stamps=stamps)


def in_daemon_thread(work: Callable[[], Value]) -> asyncio.Future[Value]:
    """The process's end does not wait for it."""
    future: Future[Value] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the work is awaited
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(future)


async def in_time(reading: asyncio.Future[Value], seconds: float, folders: tuple[Path, ...]) -> Value:
    """Raises `FaultyFiles` after so many seconds; the work goes on."""
    if (await asyncio.wait({reading}, timeout=seconds))[0]:
        return reading.result()
    names = ", ".join(map(str, folders[1:] or folders))
    raise faulty(names, f"reading takes longer than {seconds:g} s; look at the disk, or at the mount")


def read_layers(folders: tuple[Path, ...]) -> tuple[Files, ...]:
    """The files of each folder. Raises `Misconfigured`."""
    for folder in folders:
        if not folder.is_dir():
            raise Misconfigured(
                f"{folder} is no folder; make it, or set CONTEXT_BUILDER_TEMPLATES_DIR to where the templates are"
            )
    return tuple(read_files(folder, KINDS) for folder in folders)


def parse_config(
    layers: tuple[Files, ...],
    previous: ConfigSnapshot | None = None,
    failed: Listener = silence,
    preset: str = "",
    *,
    was_in_force: bool = False,
) -> ConfigSnapshot:
    """The snapshot of these files. Raises `Misconfigured`.

    previous: its caches are reused if no template changed. failed: called per breadcrumb that a template fails on. preset: read
    as a profile if there is none. was_in_force: skip trials of already tried templates.
    """
    library = load_library(layers)
    profiles = load_profiles(layers, library)
    if preset in library.presets and all(profile.consumer != preset for profile in profiles):
        profiles = (*profiles, read_preset(preset, library))
    templates = TemplateSet(*templates_of(layers))
    before = previous if previous and previous.templates.revision == templates.revision else None
    former, failures = (before.renderings, before.failures) if before else ({}, Failures(failed))
    if not (before or was_in_force) and (problems := tuple(faults(templates))):
        raise FaultyFiles(problems)
    plain = TemplateSet(*templates_of(layers[:1])) if layers[1:] else templates
    make = partial(_rendering, profiles=profiles, templates=templates, plain=plain, failures=failures)
    encodings = sorted({profile.encoding for profile in profiles})
    renderings = Renderings(make, {encoding: make(encoding, former.get(encoding)) for encoding in encodings})
    return ConfigSnapshot(
        profiles=profiles,
        library=library,
        templates=templates,
        renderings=renderings,
        failures=failures,
        layers=layers,
    )


def edition_of(config: ConfigSnapshot) -> Edition:
    """For contexts of this configuration."""
    profiles = {profile.consumer: profile.revision for profile in config.profiles}
    return Edition(templates=config.templates.revision, profiles=profiles, layers=config.layers)


class Renderings(dict[str, JinjaRendering]):
    """Renderings by encoding; others are made at first use."""

    def __init__(self, make: Callable[[str], JinjaRendering], ready: Mapping[str, JinjaRendering]) -> None:
        """ready: those in which profiles of files count."""
        super().__init__(ready)
        self._make = make

    def __missing__(self, encoding: str) -> JinjaRendering:
        """Make it."""
        self[encoding] = self._make(encoding)
        return self[encoding]


def file_stamps(folders: tuple[Path, ...]) -> FileStamps:
    """Unreachable files have no stamp."""
    stamps = set()
    for file in (file for folder in folders for kind in KINDS for file in folder.glob(kind)):
        try:
            state = file.stat()
        except OSError:
            continue
        stamps.add((str(file), state.st_ino, state.st_size, state.st_mtime_ns))
    return frozenset(stamps)


def template_folders(settings: Settings) -> tuple[Path, ...]:
    """The bundled folder, and the operator's laid over it."""
    extra = (settings.templates_dir.expanduser(),) if settings.templates_dir else ()
    return (bundled_folder("templates"), *extra)


def load_profiles(layers: tuple[Files, ...], library: Library) -> tuple[Profile, ...]:
    """By name; later layers win. Raises `Misconfigured`."""
    return tuple(parse_profile(name, source, library) for name, source in sorted(sources(layers, "profiles").items()))


def read_preset(name: str, library: Library) -> Profile:
    """The preset and nothing else. Raises `FaultyFiles`."""
    return parse_profile(name, library.presets[name], library, f"presets/{name}.yaml")


def load_library(layers: tuple[Files, ...]) -> Library:
    """Raises `Misconfigured`."""
    presets, bundled = _presets(layers), _presets(layers[:1])
    tables = (layer[MODELS] for layer in layers if MODELS in layer)
    models = {name: facts for table in tables for name, facts in parse_models(table).items()}
    hints, pages, languages = templates_of(layers)
    return Library(
        presets=presets, bundled=bundled, languages=languages, models=models, profiles=sources(layers, "profiles"),
        hints=frozenset(hints), pages=frozenset(pages), formats={NO_FORMAT: None, **additions("page_formats", (NO_FORMAT,))},
    )  # fmt: skip


def sources(layers: tuple[Files, ...], kind: str) -> dict[str, str]:
    """kind: "profiles" or "presets". Name → YAML; later layers win."""
    files = by_name(layers, kind, YAML)
    return {name: text for name, text in files.items() if kind == "presets" or not is_shadow(text, f"{kind}/{name}.yaml")}


def _rendering(
    encoding: str,
    former: JinjaRendering | None = None,
    *,
    profiles: tuple[Profile, ...],
    templates: TemplateSet,
    plain: TemplateSet,
    failures: Failures,
) -> JinjaRendering:
    pages = [profile.allowance for profile in profiles if profile.encoding == encoding]
    max_text_chars = CHARACTERS_PER_TOKEN * max(pages, default=DEFAULT_BUDGET)
    if former and former.max_chars == max_text_chars:
        return former
    languages = tuple(additions("hint_languages").values())
    return JinjaRendering(templates, load_counter(encoding), plain, failures, max_text_chars, hint_languages=languages)


def _presets(layers: tuple[Files, ...]) -> dict[str, str]:
    return sources(layers, "presets") | {DEFAULT: sources(layers, "profiles")[DEFAULT]}
