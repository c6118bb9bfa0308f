"""The command line. Commands import what they need when they run, so that `--help` answers at once."""

import logging
import os
import sys
from typing import NoReturn

from builder import __version__
from builder.app import is_collected
from builder.domain.errors import BuilderError, Misconfigured, Rejected, installation

EXIT_MISCONFIGURED, EXIT_UNAVAILABLE, EXIT_REJECTED = 78, 69, 65
"""sysexits.h: EX_CONFIG, EX_UNAVAILABLE, EX_DATAERR."""
EXIT_INTERRUPTED = 130
"""128 + SIGINT."""


def main() -> None:
    """An error of ours is one sentence on standard error and an exit code."""
    # More threads than one make small matrix products slower, and ten times slower on busy cores.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    # ONNX Runtime comes with telemetry switched on, which it decides while it is imported; this service sends nothing.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    if sys.argv[1:] == ["--version"]:
        print(f"context-builder {__version__}")  # noqa: T201 - this is the command line
        return
    try:
        if is_collected():
            from builder.app.logs import report_unhandled, set_up_logging

            set_up_logging("INFO", "json")
            report_unhandled()
        from builder.cli.registry import application

        application()
    except BuilderError as error:
        code = EXIT_REJECTED if isinstance(error, Rejected) else EXIT_UNAVAILABLE
        _end(str(error), EXIT_MISCONFIGURED if isinstance(error, Misconfigured) else code)
    except ModuleNotFoundError as error:
        # One of ours that is missing is a bug, with its traceback.
        if (error.name or "builder").partition(".")[0] == "builder":
            raise
        _end(
            f"{error.name} is not installed: the base installation is the client alone, the commands need the extra `service`; "
            f"{installation('service')}",
            EXIT_MISCONFIGURED,
        )
    except KeyboardInterrupt:
        _end("stopped", EXIT_INTERRUPTED)


def _end(sentence: str, code: int) -> NoReturn:
    if is_collected():
        logging.getLogger("builder").error("%s", sentence, extra={"facts": {"exit_code": code}})
    else:
        print(f"context-builder: {sentence}", file=sys.stderr)  # noqa: T201 - this is the command line
    sys.exit(code)
