"""What the tests of both APIs of OpenAI's client share."""

from collections.abc import Callable
from typing import Any

from openai import BadRequestError, Stream
from pydantic import BaseModel

NOTED = "Noted, as message 1."


class Kiln(BaseModel):
    noted: bool


def outcome(create: Callable[..., Any], request: dict[str, Any]) -> Any:
    """A response, the pieces of a stream, or an error, with their types."""
    try:
        response = create(model="m", **request)
    except BadRequestError as error:
        return type(error), error.status_code, error.body, str(error)
    return (type(response), list(response)) if isinstance(response, Stream) else (type(response), response)
