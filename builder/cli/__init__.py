"""The command line. Commands import what they need when they run, so that `--help` answers at once."""

import os
import sys

from builder.domain.errors import BuilderError, Misconfigured, Rejected

EXIT_MISCONFIGURED, EXIT_UNAVAILABLE, EXIT_REJECTED = 78, 69, 65
"""sysexits.h: EX_CONFIG, EX_UNAVAILABLE, EX_DATAERR."""


def main() -> None:
    """Run the command; an error of ours is one sentence on standard error and an exit code."""
    # More threads than one make small matrix products slower, and ten times slower on busy cores (reference/retrieval.md §8).
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    # ONNX Runtime comes with telemetry switched on, which it decides while it is imported; this service sends nothing.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from builder.cli.commands import application

    try:
        application()
    except BuilderError as error:
        print(f"context-builder: {error}", file=sys.stderr)  # noqa: T201 - this is the command line
        code = EXIT_REJECTED if isinstance(error, Rejected) else EXIT_UNAVAILABLE
        sys.exit(EXIT_MISCONFIGURED if isinstance(error, Misconfigured) else code)
