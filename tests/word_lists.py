"""The word lists of another folder, for tests of a new language."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable

from builder.language import words


@contextmanager
def lists_of(folder: Traversable) -> Iterator[None]:
    """Within it, the word lists are those of the folder."""
    bundled, words._folder = words._folder, folder
    _clear()
    try:
        yield
    finally:
        words._folder = bundled
        _clear()


def _clear() -> None:
    for clear in words._clear_caches:
        clear()
