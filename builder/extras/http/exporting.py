"""Messages of an export: those of the stream in its order, without secrets, repetitions and unreadable ones."""

from collections.abc import AsyncIterator, Callable

from builder.domain.breadcrumb import ORIGIN, Breadcrumb
from builder.domain.recall import EVERY_SESSION
from builder.wire.records import line_of
from builder.worker.log import Log


async def exported(log: Log, workspace: str, session: str, may_see: Callable[[Breadcrumb], bool]) -> AsyncIterator[str]:
    """Lines as `import` reads them, each with its end, of what `may_see` lets through. session: a token; "" = all.

    Raises `Unavailable`.
    """
    seen = set[tuple[str, int]]()
    walk = log.walk(workspace, session or EVERY_SESSION, ORIGIN, (await log.last()).next)
    async for message, crumb in log.readable(walk):
        # The service took the first one.
        if (crumb.id, crumb.version) not in seen and crumb.kind != "secret" and may_see(crumb):
            yield line_of(message) + "\n"
        seen.add((crumb.id, crumb.version))
