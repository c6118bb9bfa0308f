"""A folder that holds what the image holds, and how a program runs in it: no network, a read-only root, a numbered user.

It is made of what is installed here, so a test needs no registry; `tests/image_recipe.py` makes it by the steps of the
Dockerfile. Needs Linux, and root or user namespaces.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from importlib.util import cache_from_source
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from builder import __version__

ROOT = Path(__file__).resolve().parents[1]
PREFIX = Path("usr/local")
SITE = PREFIX / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
USER = 10001
ENTER = ROOT / "tests" / "enter_root.py"
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")


def dockerfile() -> str:
    """The instructions, one a line, without comments."""
    text = re.sub("^#.*\n", "", (ROOT / "deploy" / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    return re.sub(r"\\\n\s*", "", text)


def runtime_stage() -> list[str]:
    """The instructions of the last stage."""
    return dockerfile().rpartition("\nFROM ")[2].splitlines()[1:]


def variables() -> dict[str, str]:
    """What ENV sets in it."""
    lines = " ".join(line for line in runtime_stage() if line.startswith("ENV "))
    return dict(re.findall(r"(\w+)=(\S+)", lines)) | {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def needed(lines: Iterable[str]) -> dict[str, Distribution]:
    """The distributions that requirements bring along on this platform, by name."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(line) for line in lines]
    seen: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        there = found[canonicalize_name(wanted.name)] = distribution(wanted.name)
        extras = ("", *wanted.extras)
        needs = map(Requirement, there.requires or [])
        waiting += [need for need in needs if not need.marker or any(need.marker.evaluate({"extra": each}) for each in extras)]
    return found


def link(source: str | Path, target: str | Path) -> None:
    """The same file under another name, or a copy on another file system."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)


@functools.cache
def libraries(binary: Path) -> tuple[Path, ...]:
    """The shared libraries of the system that a program or module needs, where the loader finds them."""
    listed = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False).stdout
    return tuple(Path(name) for name in _LIBRARY.findall(listed))


def lay_python(root: Path) -> None:
    """The interpreter with its standard library, without packages, and the libraries that it needs."""
    skipped = shutil.ignore_patterns("site-packages", "test", "idlelib", "tkinter", "_tkinter*", "turtledemo", "config-*")
    library = SITE.parent
    shutil.copytree(Path(sysconfig.get_path("stdlib")), root / library, ignore=skipped, copy_function=link)
    program = root / PREFIX / "bin" / library.name
    link(Path(os.path.realpath(sys.executable)), program)
    for name in ("python", "python3"):
        program.with_name(name).symlink_to(library.name)
    for shared in Path(sys.base_prefix).glob("lib/libpython3*.so*"):  # /usr/lib is where the loader looks without a cache
        link(shared, root / "usr" / "lib" / shared.name)
    (root / SITE).mkdir(exist_ok=True)
    lay_libraries(root, [program, *(root / library / "lib-dynload").glob("*.so")])


def lay_libraries(root: Path, binaries: Iterable[Path]) -> list[Path]:
    """The shared libraries of the system that these need, where the loader looks; those that were not there."""
    lacking = []
    for library in sorted({library for binary in binaries for library in libraries(binary)}):
        target = root / str(library).lstrip("/")
        if not (library.is_relative_to(sys.base_prefix) or library.is_relative_to(root) or target.exists()):
            link(Path(os.path.realpath(library)), target)
            lacking.append(library)
    return lacking


def lay_packages(root: Path, distributions: Iterable[Distribution]) -> None:
    """The files of installed distributions, with their programs and with what Python has compiled of them."""
    scripts = Path(sysconfig.get_path("scripts"))
    for each in distributions:
        for file in each.files or []:
            source = Path(os.path.abspath(str(file.locate())))  # noqa: PTH100 - it follows no link
            if source.is_relative_to(scripts):
                link(source, root / PREFIX / "bin" / source.name)
            elif source.is_file():
                link(source, root / SITE / file)
                compiled = Path(cache_from_source(str(source)))
                if source.suffix == ".py" and compiled.is_file():
                    link(compiled, Path(cache_from_source(str(root / SITE / file))))


def lay_program(root: Path, name: str, module: str) -> None:
    """A program as pip writes it: it calls `main` of the module."""
    program = root / PREFIX / "bin" / name
    program.unlink(missing_ok=True)  # another name of a file that is installed here
    program.write_text(f"#!/usr/local/bin/python\nfrom {module} import main\nraise SystemExit(main())\n", "utf-8")
    program.chmod(0o755)


def lay_project(root: Path, models: Path) -> None:
    """Our package as its wheel has it, the prepared model, and the folders that the image has."""
    shutil.copytree(ROOT / "builder", root / SITE / "builder", ignore=shutil.ignore_patterns("docs"))
    for resources in ("templates", "schemas"):
        shutil.copytree(ROOT / resources, root / SITE / "builder" / "_resources" / resources)
    metadata = root / SITE / f"breadcrumb_context_builder-{__version__}.dist-info"
    metadata.mkdir()
    ours = distribution("breadcrumb-context-builder")
    for name in ("METADATA", "entry_points.txt"):
        (metadata / name).write_text(ours.read_text(name) or "", "utf-8")
    shutil.copytree(models, root / "opt" / "context-builder" / "models")
    lay_program(root, "context-builder", "builder.cli")
    lay_folders(root)


def lay_folders(root: Path) -> None:
    """What is mounted over by the program that enters."""
    for name in ("data", "tmp", "proc", "dev"):
        (root / name).mkdir(exist_ok=True)
    for name in ("null", "urandom"):
        (root / "dev" / name).touch()


def apart() -> list[str]:
    """What runs a command with a network and mounts of its own."""
    return ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def entering(root: Path, user: int, command: Iterable[str], *, writable: bool = False) -> list[str]:
    """The command that runs a command in there. writable: as a step of the Dockerfile, not as a container."""
    flags = ["--writable"] if writable else []
    return [*apart(), sys.executable, str(ENTER), *flags, str(root), str(user), *command]
