"""`doctor`: the state of each part, and what to do."""

import asyncio
import json
import os
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from builder.app.address import Address, RunningService, broker_address, running
from builder.app.broker import check_broker, locate_store
from builder.app.components import models, open_components
from builder.app.settings import Settings
from builder.app.subscriptions import list_subscriptions
from builder.cli.options import Target
from builder.connection.opening import without_credentials
from builder.domain.errors import BuilderError, Rejected, Unavailable
from builder.extra import Check, Degraded, additions

LOW_DISK = 1_000_000_000
HTTP_SECONDS = 5.0


async def examine(settings: Settings, servers: str) -> list[dict[str, Any]]:
    """A finding per part: {part, ok, warning, said}. warning: it works, but not as it should.

    servers: of the broker; "" = the configured one, or that of the running service.
    """
    address = broker_address(settings, servers)
    parts: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "python": _python,
        "disk": _disk,
        "model": _model,
        "service": partial(_service, address),
        "broker": partial(_broker, address),
        "agents": partial(_agents, address),
    }
    for name, check in additions("checks", (*parts, "core")).items():
        parts[name] = partial(_of_extra, check, address)
    parts["core"] = _core
    return [await _finding(name, check, settings) for name, check in parts.items()]


async def _finding(name: str, check: Callable[[Settings], Awaitable[str]], settings: Settings) -> dict[str, Any]:
    try:
        text, error = await check(settings), None
    except BuilderError as problem:
        text, error = str(problem), problem
    warning = isinstance(error, Degraded)
    return {"part": name, "ok": error is None or warning, "warning": warning, "said": text}


async def _python(_settings: Settings) -> str:
    return sys.version.split()[0]


async def _disk(settings: Settings) -> str:
    folder = settings.data_dir.expanduser()
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        raise BuilderError(f"{folder} cannot be written; fix its permissions, or set CONTEXT_BUILDER_DATA_DIR")
    free = (await asyncio.to_thread(shutil.disk_usage, folder)).free
    if free < LOW_DISK:
        raise BuilderError(f"{folder} has {free / 1e9:.1f} GB left; free some, or set CONTEXT_BUILDER_DATA_DIR")
    return f"{free / 1e9:.0f} GB free at {folder}"


async def _model(settings: Settings) -> str:
    rows = models(settings)
    text = "; ".join(f"{model['name']}: {model['state']}" for model in rows)
    if settings.embedding.engine == "onnx" and not any(row["ready"] for row in rows if row["name"] == settings.embedding.model):
        raise BuilderError(text)
    return text


async def _service(address: Address, settings: Settings) -> str:
    service = running(settings)
    if service is not None:
        return await asyncio.to_thread(_readiness, service)
    if address.guess:
        raise Degraded(f"none runs on {settings.data_dir.expanduser()}; start it with `context-builder up`")
    try:
        answer = await Target(settings, address, settings.workspace).request("consumers", {})
    except Unavailable as error:
        raise Degraded(f"none answers: {error}") from error
    names = ", ".join(each["name"] for each in answer["consumers"])
    return f"one answers at {without_credentials(address.servers)}, for {names or 'nobody'}"


def _readiness(service: RunningService) -> str:
    """Asks /readyz. Raises `BuilderError` and `Degraded`."""
    url = f"{service.http}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=HTTP_SECONDS) as response:  # noqa: S310 - the service's own URL
            answer = json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            answer = json.loads(error.read())
    except (OSError, ValueError) as error:
        raise BuilderError(f"process {service.pid} runs, and {url} does not answer: {error}; look into its log") from error
    problem = "; ".join(f"{part}: {text}" for part, text in answer["parts"].items() if text != "ok")
    if answer["status"] == "failing":
        raise BuilderError(f"{url} says failing: {problem}")
    if problem:
        raise Degraded(f"{url} says {answer['status']}: {problem}")
    return f"{url} says {answer['status']}, process {service.pid}, NATS {service.nats}"


async def _broker(address: Address, settings: Settings) -> str:
    """Without configuration and service there is no broker yet: no fault."""
    if address.guess:
        return await check_broker(settings, "")
    try:
        return await check_broker(settings, address.servers)
    except Rejected as error:
        raise Degraded(str(error)) from error
    except Unavailable:
        if address.is_configured or running(settings):
            raise
        return await check_broker(settings, "")


async def _agents(address: Address, settings: Settings) -> str:
    if address.guess:
        return "none: no broker is configured"
    try:
        subscriptions = await list_subscriptions(settings, address.servers)
    except Unavailable as error:
        raise Degraded(f"who listens is not known: {error}") from error
    try:
        answer = await Target(settings, address, settings.workspace).request("consumers", {})
        triggered = [each["name"] for each in answer["consumers"] if each["triggers"]]
        alone = [name for name in triggered if not any(each.is_of(settings.workspace, name) for each in subscriptions)]
        nobody = f"nobody has subscribed yet in workspace {settings.workspace!r} for {', '.join(alone)}" if alone else ""
    except Unavailable:
        nobody = "no service tells for which consumers nobody has subscribed"
    text = "; ".join(filter(None, (*map(str, subscriptions), nobody, "contexts are built whether or not somebody listens")))
    if silent := [each.name for each in subscriptions if each.is_silent]:
        stream = settings.installation.stream("CONTEXTS")
        raise Degraded(
            f"nobody takes the contexts of {', '.join(silent)}; start that agent again, or remove a durable that nobody needs: "
            f"`nats consumer rm {stream} NAME`; {text}"
        )
    return text


async def _of_extra(check: Check, address: Address, settings: Settings) -> str:
    return await check(settings, "" if address.guess else address.servers)


async def _core(settings: Settings) -> str:
    async with open_components(settings) as core:
        count, missing = await core.store.count(), await core.store.count_missing_vectors()
        names = ", ".join(profile.consumer for profile in core.profiles)
        stored = f"{count} breadcrumbs in {locate_store(settings).name}, {missing} lack vectors"
        text = f"{stored}; engine {core.embedder.model}; profiles {names}"
        if outdated := await core.store.count_outdated():
            raise Degraded(
                f"{outdated} breadcrumbs have words or bodies as an earlier release computed them; run `context-builder reindex` "
                f"with the service stopped, which reads them again from the stream; {text}"
            )
        try:
            await core.embedder.embed("ready")
        except Unavailable as error:
            raise Degraded(f"contexts are built by words alone: {error}; {text}") from error
    return text
