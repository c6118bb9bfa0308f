"""The calls of a vendor's client that create an answer: its objects keep their types, and send the page.

The SDKs of OpenAI and Anthropic are made by one generator. A resource sends all its requests by its own `_post`, whatever method
was called, and a stream reads from its own `_iterator`: these two are what is put in place.
"""

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from typing import Protocol as Shape

from builder.client import Rejected
from builder.domain.json_values import JsonObject
from builder.integrations.vendors.turns import Chat, Turn, Turns

Vendor = TypeVar("Vendor")
RAW_HEADER, UNREAD = "X-Stainless-Raw-Response", "stream"
"""A request for the raw response has it; its value where the body is left for the caller to read."""
VIEWS = ("with_raw_response", "with_streaming_response")
"""Kept on first use by the objects of a vendor, of which they are made."""


class Assembly(Shape):
    """An answer that comes in pieces."""

    def add(self, piece: Mapping[str, Any], /) -> bool:
        """Whether the answer is whole now."""
        ...

    def answer(self) -> JsonObject:
        """Its message; {} = it says nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How a vendor is asked."""

    resources: tuple[tuple[str, ...], ...]
    """Paths of attributes to the objects that ask."""
    path: str
    """Path of the URL."""
    messages: str = "messages"
    """The field of a request with what was said."""
    conversation: Callable[[Mapping[str, Any]], Chat]
    """Request → what was said."""
    with_page: Callable[[Mapping[str, Any], Chat], JsonObject]
    """Request, page → request."""
    answer: Callable[[Mapping[str, Any]], JsonObject]
    """Response → message; {} = it says nothing."""
    assembly: Callable[[], Assembly]


def with_memory(vendor: Vendor, protocols: Sequence[Protocol], turns: Turns) -> Vendor:
    """A copy whose calls have the page. protocols: the first one's first resource must be there.

    Raises `Rejected` for what is no client of this vendor.
    """
    first = protocols[0].resources[0]
    if not _has(vendor, first):
        raise Rejected(f"{type(vendor).__name__} has no {'.'.join(first)}; give the vendor's own client, plain or asynchronous")
    twin: Vendor = _copy(vendor)
    for protocol, names in ((each, names) for each in protocols for names in each.resources):
        if _has(twin, names):
            resource: Any = twin
            for name in names:
                setattr(resource, name, _copy(getattr(resource, name)))
                resource = getattr(resource, name)
            resource._post = _post(resource._post, protocol, turns)  # noqa: SLF001 - see above
    for name in ("copy", "with_options"):  # they make another client, which remembers as well
        setattr(twin, name, _again(getattr(vendor, name), protocols, turns))
    return twin


def _has(target: Any, names: Sequence[str]) -> bool:
    return not names or (hasattr(target, names[0]) and _has(getattr(target, names[0]), names[1:]))


def _copy(target: Any) -> Any:
    twin = copy.copy(target)
    for name in VIEWS:
        vars(twin).pop(name, None)
    return twin


def _again(make: Callable[..., Any], protocols: Sequence[Protocol], turns: Turns) -> Callable[..., Any]:
    return lambda *args, **options: with_memory(make(*args, **options), protocols, turns)


def _post(post: Callable[..., Any], protocol: Protocol, turns: Turns) -> Callable[..., Any]:
    """`_post` of a resource, plain or asynchronous as it is."""

    def begin(path: str, body: Any) -> tuple[Turn | None, Any]:
        if path.partition("?")[0] != protocol.path:
            return None, body
        request = {**body, protocol.messages: _plain(body.get(protocol.messages))}
        turn = turns.begin(protocol.conversation(request))
        return turn, protocol.with_page(request, turn.page) if turn else body

    def ask(path: str, *, body: Any = None, **rest: Any) -> Any:
        turn, request = begin(path, body)
        response = post(path, body=request, **rest)
        if turn is None:
            return response
        if _raw(rest) != UNREAD:
            _watch(response.parse() if _raw(rest) else response, protocol, turns, turn)
        return response

    async def ask_later(path: str, *, body: Any = None, **rest: Any) -> Any:
        turn, request = await asyncio.to_thread(begin, path, body)
        response = await post(path, body=request, **rest)
        if turn is None:
            return response
        if _raw(rest) != UNREAD:
            content = response.parse() if _raw(rest) else response
            content = await content if inspect.isawaitable(content) else content
            await asyncio.to_thread(_watch, content, protocol, turns, turn)
        return response

    return ask_later if inspect.iscoroutinefunction(post) else ask


def _raw(rest: Mapping[str, Any]) -> str:
    """How the raw response is asked for; "" = it is not."""
    return str(((rest.get("options") or {}).get("headers") or {}).get(RAW_HEADER) or "")


def _watch(response: Any, protocol: Protocol, turns: Turns, turn: Turn) -> None:
    """Publish the answer, of a stream once it is whole."""
    iterator: Any = getattr(response, "_iterator", None)
    if hasattr(iterator, "__anext__"):
        response._iterator = _later(iterator, protocol, turns, turn)  # noqa: SLF001 - see above
    elif iterator is not None:
        response._iterator = _pieces(iterator, protocol, turns, turn)  # noqa: SLF001
    elif message := protocol.answer(_values(response)):
        turns.end(turn, message)


def _plain(value: Any) -> Any:
    """Objects of the vendor as it sends them."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True, warnings=False)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value


def _values(response: Any) -> Mapping[str, Any]:
    """{} = it is no object of the vendor. What a parser has put into one may be of another type than its field."""
    values: Mapping[str, Any] = response.model_dump(warnings=False) if hasattr(response, "model_dump") else {}
    return values


def _pieces(iterator: Iterator[Any], protocol: Protocol, turns: Turns, turn: Turn) -> Iterator[Any]:
    assembly = protocol.assembly()
    for piece in iterator:
        if assembly.add(_values(piece)) and (message := assembly.answer()):
            turns.end(turn, message)
        yield piece


async def _later(iterator: AsyncIterator[Any], protocol: Protocol, turns: Turns, turn: Turn) -> AsyncIterator[Any]:
    assembly = protocol.assembly()
    async for piece in iterator:
        if assembly.add(_values(piece)) and (message := assembly.answer()):
            await asyncio.to_thread(turns.end, turn, message)
        yield piece
