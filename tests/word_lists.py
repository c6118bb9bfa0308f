"""The word lists and those of one more language, for tests of a new one."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from builder.language import word_lists


@contextmanager
def lists_with(folder: Path, texts: Mapping[str, str]) -> Iterator[None]:
    """Within it, the word lists are the bundled ones, copied into the folder, and these files: path below `data` → text."""
    copy = folder / "data"
    with as_file(files("builder.language") / "data") as source:
        shutil.copytree(source, copy)
    for path, text in texts.items():
        (copy / path).write_text(text, "utf-8")
    bundled, word_lists._folder = word_lists._folder, copy
    _clear()
    try:
        yield
    finally:
        word_lists._folder = bundled
        _clear()


def _clear() -> None:
    """Empty the caches of all that was made of the lists."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith(("builder.language.", "builder.extras.summaries.")):
            for kept in vars(module).values():
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()
