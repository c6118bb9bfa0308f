"""The client of one caller inside the service: requests go to the service, what it sends is checked first."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from nats.aio.client import Client as Connection
from typing_extensions import override

from builder.app.access import AccessControl, id_in_use
from builder.client import Client
from builder.client.requests import REQUEST_SECONDS
from builder.client.sending import BreadcrumbStream, Compare, PublishResult, TakenId, as_json, check
from builder.connection.names import Installation
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Unavailable
from builder.extra import Caller
from builder.extras.http.exporting import exported
from builder.wire.records import Outgoing, compared
from builder.wire.requests import request_json
from builder.wire.subjects import session_text
from builder.worker.log import Log


class CheckedStream(BreadcrumbStream):
    """The stream, for what a caller may write."""

    def __init__(
        self,
        connection: Connection,
        installation: Installation,
        compare: Compare,
        allow: Callable[[Breadcrumb], Awaitable[None]],
        *,
        is_open: bool,
    ) -> None:
        """allow: raises `Rejected`. is_open: the caller may know what has an id that is taken."""
        super().__init__(connection, installation, compare)
        self._allow = allow
        self._is_open = is_open

    @override
    async def publish(
        self, event: Outgoing, *, replay: bool = False, own_clock: bool = False, last: int | None = None
    ) -> PublishResult:
        crumb = check(event)
        await self._allow(crumb)
        try:
            return await super().publish(event, replay=replay, own_clock=own_clock, last=last)
        except TakenId:
            if self._is_open:
                raise
            raise id_in_use(crumb.id) from None


class DoorClient(Client):
    """`Client` without the broker's round trip for requests, and with the caller's rights."""

    def __init__(
        self, connection: Connection, installation: Installation, access: AccessControl, log: Log, caller: Caller
    ) -> None:
        super().__init__(connection, caller.workspace, installation)
        self._stream = CheckedStream(connection, installation, self._compare, self._allow, is_open=not caller.user)
        self._access = access
        self._log = log
        self.caller = caller

    @override
    async def request(self, name: str, request: Mapping[str, Any], timeout: float = REQUEST_SECONDS) -> dict[str, Any]:
        try:
            async with asyncio.timeout(timeout):
                return await self._access.answer(self.caller, name, request_json(request))
        except TimeoutError:
            raise Unavailable(f"{name} was not answered within {timeout:g} s; is the service busy?") from None

    @override
    async def _compare(self, event: Outgoing, sequence: int, own_clock: bool) -> dict[str, Any]:
        return compared(event, await self._log.get(sequence), own_clock=own_clock)

    async def send_record(self, record: dict[str, Any]) -> dict[str, Any]:
        """Publish a record. Raises `Rejected`, `Unavailable`. A repeated id is a duplicate."""
        person = {"user_id": self.caller.user} if self.caller.user else {}
        event = as_json(person | record | {"id": record.get("id") or str(uuid.uuid4())}, self.workspace)
        crumb = check(event)
        result = await self._stream.publish(event, own_clock=record.get("created_at") is None)
        return {"id": crumb.id, "session": session_text(crumb.session), "seq": result.sequence, "duplicate": result.duplicate}

    async def export(self, session: str) -> AsyncIterator[str]:
        """Lines of the stream as `import` reads them. session: "" = all. Raises `Rejected`, `Unavailable`."""
        await self._access.check_export(self.caller, session)
        async for line in exported(self._log, self.workspace, session, self.caller.may_see):
            yield line

    async def _allow(self, crumb: Breadcrumb) -> None:
        await self._access.check_message(self.caller, crumb)
