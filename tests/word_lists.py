"""The word lists and those of one more language, for tests of a new one."""

import shutil
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
    for clear in word_lists._clear_caches:
        clear()
