"""Files of a templates folder that nobody reads, because of name or place."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from builder.adapters.files import parse_yaml, read_source
from builder.adapters.templates.folder import GENERIC, LANGUAGE, SUFFIX
from builder.app.config import MODELS
from builder.domain.lint_finding import LintFinding, nearest
from builder.extras.workshop.cases import EXPECTED, FOLDER
from builder.extras.workshop.cases import SUFFIXES as CASE_SUFFIXES

SUFFIXES: Mapping[str, str] = {
    "hints": SUFFIX,
    "pages": SUFFIX,
    "phrases": ".yaml",
    "presets": ".yaml",
    "profiles": ".yaml",
}
MAX_NAMES = 5
IGNORED = re.compile(r"\..*|.*~|README.*|LICENSE.*|.*\.bak", re.IGNORECASE)
MIN_LIKENESS = 0.85


def stray_files(folder: Path, schemas: Collection[str], own: Collection[str]) -> Iterator[LintFinding]:
    """Unknown names. schemas: the service's. own: others that profiles show."""
    for entry in sorted(folder.iterdir()):
        if IGNORED.fullmatch(entry.name):
            continue
        if not entry.is_dir():
            yield from _beside_folders(entry)
        elif entry.name == FOLDER:
            yield from _in_cases(entry)
        elif entry.name in SUFFIXES:
            yield from _in_folder(entry, SUFFIXES[entry.name], schemas, own)
        elif nearest(entry.name, (*SUFFIXES, FOLDER)) or any(map(_is_template, entry.iterdir())):
            yield _finding(f"{entry.name}/", "no folder of templates has this name", _fix(entry.name, (*SUFFIXES, FOLDER), "/"))


def _beside_folders(file: Path) -> Iterator[LintFinding]:
    if file.name == MODELS or not (file.is_file() and _is_template(file)):
        return
    fix = f"put it into {_folders()}"
    if nearest(file.name, (MODELS,), MIN_LIKENESS):
        fix = _fix(file.name, (MODELS,), "")
    yield _finding(file.name, "nothing reads a file here", fix)


def untranslated(folder: Path, english: Collection[str], bundled: Collection[str]) -> Iterator[LintFinding]:
    """The author's languages that lack phrases. english: all phrases. bundled: complete languages."""
    for file in sorted((folder / "phrases").glob("*.yaml")):
        entries = parse_yaml(read_source(file)) or {}
        missing = [name for name in english if name not in entries]
        if file.stem not in bundled and missing:
            names = ", ".join(missing[:MAX_NAMES]) + (f" and {len(missing) - MAX_NAMES} more" if missing[MAX_NAMES:] else "")
            problem, fix = f"it lacks {names}, which pages have in English", "take them from phrases/en.yaml"
            yield LintFinding(file=f"phrases/{file.name}", place="", problem=problem, fix=fix, severity="note")


def _is_template(file: Path) -> bool:
    return file.suffix in {".j2", ".jinja", ".jinja2", ".yaml", ".yml"}


def _in_folder(folder: Path, suffix: str, schemas: Collection[str], own: Collection[str]) -> Iterator[LintFinding]:
    for file in sorted(folder.iterdir()):
        if IGNORED.fullmatch(file.name):
            continue
        path, stem = f"{folder.name}/{file.name}", file.name.removesuffix(suffix)
        if file.is_dir():
            yield _finding(f"{path}/", "nothing reads a folder here", f"put its files into {folder.name}/")
        elif not file.name.endswith(suffix):
            right = re.sub(r"(\.md|\.j2|\.jinja2?|\.txt|\.ya?ml)+$", "", file.name) + suffix
            yield _finding(path, f"only files that end in {suffix} are read here", f"call it {folder.name}/{right}")
        elif folder.name == "hints" and stem not in {GENERIC, *schemas, *own} and (near := _schema_like(stem, schemas)):
            yield _finding(path, f"no breadcrumb has the schema {stem!r}", f"call it hints/{near}{suffix}")
        elif folder.name == "phrases" and not LANGUAGE.fullmatch(stem):
            yield _finding(path, f"{stem!r} is no code of a language", "call it by its code, such as phrases/de.yaml")


def _in_cases(folder: Path) -> Iterator[LintFinding]:
    for file in sorted(folder.iterdir()):
        path = f"{folder.name}/{file.name}"
        if IGNORED.fullmatch(file.name) or file.suffix in CASE_SUFFIXES:
            continue
        if file.is_dir() or file.suffix != EXPECTED:
            yield _finding(
                path, f"cases end in {' or '.join(CASE_SUFFIXES)}, what they should make in {EXPECTED}", "rename or move it"
            )
        elif not any(file.with_suffix(suffix).is_file() for suffix in CASE_SUFFIXES):
            yield _finding(path, "there is no case of this name", f"add {folder.name}/{file.stem}.json, or take it away")


def _schema_like(name: str, schemas: Collection[str]) -> str:
    if f"{name}.v1" in schemas:
        return f"{name}.v1"
    return nearest(name, schemas, MIN_LIKENESS)


def _fix(name: str, names: Collection[str], end: str) -> str:
    near = nearest(name, names)
    return f"call it {near}{end}" if near else f"its files belong into {_folders()}"


def _folders() -> str:
    return ", ".join(f"{name}/" for name in SUFFIXES)


def _finding(file: str, problem: str, fix: str) -> LintFinding:
    return LintFinding(file=file, place="", problem=f"{problem}, so it is not read", fix=fix)
