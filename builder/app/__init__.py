"""The only package that knows which adapter serves which port."""

import os
import sys


def is_collected() -> bool:
    """Whether a program reads standard error: the log is in JSON, and no terminal shows it; it gets nothing else."""
    return os.environ.get("CONTEXT_BUILDER_LOG__FORMAT") == "json" and not sys.stderr.isatty()
