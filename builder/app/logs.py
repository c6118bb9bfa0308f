"""Log lines to standard error: text for people, JSON for collectors."""

import logging
import sys
import threading
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from builder.domain.timing import PARTS

FIELDS = frozenset(
    {"outcome", "workspace", "session", "schema", "seq", "ms", "contexts", "tokens", "reason", "facts"}
    | {f"{part}_ms" for part in PARTS}
)
"""In JSON lines, beside the message; `facts` are own fields."""
TEXT = "%(asctime)s %(levelname)-7s %(name)s  %(message)s"


def set_up_logging(level: str, style: str) -> None:
    """style: "text" or "json", for libraries' lines too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(json_lines() if style == "json" else text_lines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("httpx", "httpx2", "uvicorn.access", "nats.aio.client"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def report_unhandled() -> None:
    """What Python writes to standard error by itself becomes lines of the log: warnings, and exceptions that nobody caught."""
    logging.captureWarnings(True)
    unhandled = partial(logging.getLogger("builder").critical, "an exception that nobody caught")
    sys.excepthook = lambda _kind, error, _trace: unhandled(exc_info=error)
    threading.excepthook = lambda lost: unhandled(exc_info=lost.exc_value)
    sys.unraisablehook = lambda lost: unhandled(exc_info=lost.exc_value)


def text_lines() -> logging.Formatter:
    """For people; times are UTC, as in JSON."""
    lines = logging.Formatter(TEXT)
    lines.converter, lines.default_time_format, lines.default_msec_format = time.gmtime, "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
    return lines


def json_lines() -> logging.Formatter:
    """An object per line: time, level, logger, message, delivery, exception."""
    import structlog

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder(allow=FIELDS)],
        processors=[
            structlog.processors.format_exc_info,
            _head,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )


def _head(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    record, facts = event["_record"], event.pop("facts", {})
    first, *rest = event.pop("event").splitlines() or [""]
    has_trace = any(line.lstrip().startswith('File "') for line in rest)
    return {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
        "level": record.levelname,
        "logger": record.name,
        "message": first.rstrip(":") if has_trace else " ".join(" ".join([first, *rest]).split()),
        **({"exception": "\n".join(rest)} if has_trace else {}),
        **facts,
        **event,
    }
