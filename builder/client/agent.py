"""One context answered: by a reply that was given before, by the handler, or by nobody when it is over."""

import logging
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from builder.client.answering import AnsweredMeanwhile
from builder.client.received import ReceivedContext
from builder.client.replies import MAX_ERROR_CHARS, Tools, called
from builder.client.serving import Handler, OnFailure, patiently
from builder.domain.errors import Rejected

if TYPE_CHECKING:
    from builder.client.client import Client

log = logging.getLogger("builder.client")

REFRESH_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 60.0)
"""For the answer to a request for a page, one attempt after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What `Client.serve` was given."""

    client: "Client"
    handler: Handler
    tools: Tools | None
    on_failure: OnFailure | None
    refresh: bool
    """A session that has gone on since gives a new page."""
    speaker: str
    tags: tuple[str, ...]

    async def work(self, context: ReceivedContext, is_repeat: bool) -> None:
        """Answer a context once, whatever was done for it before. Raises what the handler raises."""
        page = None if is_repeat and await self._is_answered(context) else await self._page(context)
        while page and not page.is_over and (reply := await called(self.handler, page)) is not None:
            try:
                await self._send(page, reply)
                break
            except AnsweredMeanwhile:  # a person asked two things, and another page's answer has one of them
                before, page = page, await self._refreshed(context)
                if page and page.questions == before.questions:
                    raise

    async def give_up(self, context: ReceivedContext, error: Exception) -> None:
        """Answer as `on_failure` says, by default with a dead letter."""
        if self.on_failure is not None:
            try:
                if (reply := await called(self.on_failure, context, error)) is not None:
                    await self._send(context, reply)
            except Exception as failure:  # noqa: BLE001 - a handler is anybody's code
                error = failure
            else:
                return
        names = {"consumer": context.consumer_id, "trigger": context.trigger_event_id, "session": context.session_token}
        await self.client.request("fail", names | {"error": f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]})

    async def _is_answered(self, context: ReceivedContext) -> bool:
        """Whether a reply was sent before; its calls that are still open are run."""
        responses = await patiently(partial(self.client.responses, context), "what was said before")
        for response in responses:
            if self.tools is not None and response.open_calls:
                await self.client.run_tools(context, response, self.tools, tags=self.tags)
        return bool(responses)

    async def _page(self, context: ReceivedContext) -> ReceivedContext | None:
        """The context, or what it has become when the session has gone on since."""
        has_gone_on = partial(self.client.has_gone_on, context)
        if context.is_over or not await patiently(has_gone_on, "a look at the session"):
            return context
        if self.refresh:
            return await self._refreshed(context)
        return None if await patiently(partial(self.client.is_superseded, context), "a look at later contexts") else context

    async def _refreshed(self, context: ReceivedContext) -> ReceivedContext | None:
        """None where it cannot be built any more, because its message was erased, say.

        A service that dies takes the request with it, so the first ones wait for short times.
        """
        seconds = chain(REFRESH_SECONDS, repeat(REFRESH_SECONDS[-1]))
        try:
            return await patiently(
                lambda: self.client.refresh(context, timeout=next(seconds)), f"a new page for context {context.id}"
            )
        except Rejected as error:
            log.warning("context %s is left without an answer: %s", context.id, error)
            return None

    async def _send(self, page: ReceivedContext, reply: Any) -> None:
        send = partial(self.client.send_reply, page, reply, tools=self.tools, speaker=self.speaker, tags=self.tags)
        await patiently(send, f"the reply to context {page.id}")
