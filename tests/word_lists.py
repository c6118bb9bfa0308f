"""The word lists of another folder, for tests of a new language."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable

from builder.language import lists


@contextmanager
def lists_of(folder: Traversable) -> Iterator[None]:
    """Within it, the word lists are those of the folder."""
    bundled, lists._folder = lists._folder, folder
    _clear()
    try:
        yield
    finally:
        lists._folder = bundled
        _clear()


def _clear() -> None:
    for clear in lists._clear_caches:
        clear()
