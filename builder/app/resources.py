"""Where the bundled templates and schemas lie: inside the wheel, or beside the package in a source tree."""

from importlib.resources import files
from pathlib import Path

from builder.domain.errors import Misconfigured


def bundled_folder(name: str) -> Path:
    """The folder `templates` or `schemas`. Raises `Misconfigured` when the installation is broken."""
    package = Path(str(files("builder")))
    for folder in (package / "_resources" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise Misconfigured(f"the folder {name!r} is missing from the installation at {package}; install the package again")
