"""What a broker refuses for want of a permission, told once for each permission.

nats-py reports a violation beside the call that it belongs to, in lower case, and that call waits until its time is over.
"""

import logging
import re
from functools import cache

from builder.wire.installation import HEADS

log = logging.getLogger("builder.connection")

_VIOLATION = re.compile(r'permissions violation for (publish|subscription) to "([^"]*)"', re.IGNORECASE)
_JETSTREAM = re.compile(r"(\$js\.(?:ack|api\.\w+(?:\.msg|\.durable)?\.\w+)|\$kv|_inbox)(?:\.([^.]+))?(\..+)?")
_STREAM = re.compile(r"^kv(?=_)|(?:breadcrumbs|contexts|deadletters|probes|shadows)$")


def refusal(error: Exception | None) -> str:
    """The permission that is missing, and what to do; empty for any other error."""
    violation = _VIOLATION.search(str(error))
    if violation is None:
        return ""
    verb = "publish" if violation[1].lower() == "publish" else "subscribe"
    return (
        f"the broker refuses the permission {verb} {permission(violation[2])!r}; grant it to this user (the page protocol.md "
        "lists what the service and what agents need), or check the user and CONTEXT_BUILDER_NAME"
    )


def permission(subject: str) -> str:
    """The permission for everything of the subject's kind. subject: in lower case."""
    if jetstream := _JETSTREAM.fullmatch(subject):
        verb, name, rest = jetstream.groups()
        words = [verb.upper()] if verb == "_inbox" else [verb.upper(), _STREAM.sub(lambda end: end[0].upper(), name or ">")]
        return ".".join([*words, ">"] if rest or verb in {"_inbox", "$kv"} else words)
    words = subject.split(".")
    return ".".join([*words[: 1 if words[0] in HEADS else 2], ">"])


@cache
def tell(sentence: str) -> None:
    """Log it, once in the life of the process."""
    log.warning("%s", sentence)


async def tell_refusal(error: Exception) -> None:
    """The error callback of a connection whose other errors are logged elsewhere."""
    if sentence := refusal(error):
        tell(sentence)
