"""Run the steps of the Dockerfile's runtime stage in an empty folder without a network, then start what they made.

By hand, for pip and a folder of wheels take their time:

    pip wheel --wheel-dir WHEELS --constraint constraints.txt --requirement deploy/requirements-slim.txt
    python -m build --wheel --outdir WHEELS
    python -m tests.image_recipe WHEELS

It prints the size of what the steps installed, and the seconds from the start of the service to its first ready answer.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from tests.clean_root import (
    ROOT,
    SITE,
    USER,
    entering,
    lay_folders,
    lay_libraries,
    lay_packages,
    lay_program,
    lay_python,
    link,
    runtime_stage,
    variables,
)

TOOLS = ("/bin/sh", "/usr/sbin/groupadd", "/usr/sbin/useradd", "/usr/bin/install")
OF_DEBIAN = {"libgcc_s.so.1", "libstdc++.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"}
"""The base image has these, too: they come with the C library and with the package manager."""
MODELS = Path("~/.cache/context-builder/models").expanduser()
DRIVER = ROOT / "tests" / "image_driver.py"
_MOUNT = re.compile(r"--mount=type=bind,(?:from=(\w+),)?source=([^,\s]+),target=(\S+)\s+")


def lay_base(root: Path) -> None:
    """What the base image has: Python with pip, and the few tools of the system that the steps call."""
    lay_python(root)
    lay_packages(root, [distribution("pip")])
    lay_program(root, "pip", "pip._internal.cli.main")
    for tool in map(Path, TOOLS):
        link(Path(os.path.realpath(tool)), root / str(tool).lstrip("/"))
    lay_libraries(root, map(Path, TOOLS))
    (root / "etc").mkdir()
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", "utf-8")
    (root / "etc" / "group").write_text("root:x:0:\n", "utf-8")
    lay_folders(root)
    (root / "data").rmdir()


def run_step(root: Path, step: str, wheels: Path) -> None:
    """One RUN, its bind mounts as copies that go afterwards. wheels: in the place of the index."""
    mounted = []
    for stage, source, target in _MOUNT.findall(step):
        place = root / target.lstrip("/")
        mounted.append(place)
        if stage:
            place.mkdir(parents=True)
            for wheel in wheels.glob("breadcrumb_context_builder-*.whl"):
                shutil.copy2(wheel, place)
        else:
            shutil.copy2(ROOT / source, place)
    shutil.copytree(wheels, root / "wheels", copy_function=link)
    (root / "data").mkdir(exist_ok=True)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels", "PIP_ROOT_USER_ACTION": "ignore"}
    builder = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/bin", "HOME": "/root"}
    command = ["/bin/sh", "-c", _MOUNT.sub("", step).removeprefix("RUN ")]
    subprocess.run(entering(root, 0, command, writable=True), env=variables() | offline | builder, check=True)
    shutil.rmtree(root / "wheels")
    for place in mounted:
        shutil.rmtree(place) if place.is_dir() else place.unlink()


def megabytes(folder: Path) -> float:
    """The bytes of its files, each once."""
    files = {(state.st_dev, state.st_ino): state.st_size for file in folder.rglob("*") if (state := file.lstat())}
    return sum(files.values()) / 1e6


def main(wheels: Path) -> None:
    """Build, measure, start."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)  # the user of the image must get in
        lay_base(root)
        before = megabytes(root)
        for line in runtime_stage():
            if line.startswith("RUN "):
                run_step(root, line, wheels)
            if line.startswith("COPY --from=model "):
                shutil.copytree(MODELS, root / shlex.split(line)[-1].lstrip("/"))
        sizes = (before, megabytes(root) - before, megabytes(root / SITE))
        lacking = lay_libraries(root, (root / SITE).rglob("*.so*"))
        assert {library.name for library in lacking} <= OF_DEBIAN, lacking
        print("base {:.0f} MB; installed {:.0f} MB, of which packages {:.0f} MB".format(*sizes))
        (entry,) = [line for line in runtime_stage() if line.startswith("ENTRYPOINT ")]
        command = ["python", "-c", DRIVER.read_text("utf-8"), *re.findall(r'"([^"]+)"', entry)]
        subprocess.run(entering(root, USER, command), env=variables(), check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
