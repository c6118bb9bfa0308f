"""An error as an answer, and raised from one."""

from typing import Any

from builder.domain.errors import BuilderError, Rejected, Unavailable


def error_json(error: Exception) -> dict[str, Any]:
    """An error as a sentence; kind: "unavailable" = try again, "rejected" = do not."""
    is_ours = isinstance(error, BuilderError)
    kind = "rejected" if isinstance(error, Rejected) else "unavailable"
    return {"error": str(error) if is_ours else "a bug in the service; its log has the traceback", "kind": kind}


def raise_error(answer: dict[str, Any]) -> None:
    """Raise the error of `error_json`, if the answer has one."""
    if "error" in answer:
        raise (Rejected if answer.get("kind") == "rejected" else Unavailable)(str(answer["error"]))
