"""The prepared model for tests: made once a machine, in the place where users have it."""

from functools import cache
from pathlib import Path

from builder.adapters.embedding import PreparedModel
from builder.adapters.embedding.prepare import prepare

MODELS_DIR = Path("~/.cache/context-builder/models").expanduser()


@cache
def prepared() -> PreparedModel:
    """The real int8 model; some 10 s on the first use of a machine, 20 ms later."""
    return prepare(MODELS_DIR)
