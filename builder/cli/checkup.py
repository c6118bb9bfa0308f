"""`doctor`: each part, whether it is well, and what to do when it is not."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from builder.app import check_broker, models, open_core
from builder.domain.errors import BuilderError, Unavailable
from builder.settings import Settings

LOW_DISK = 1_000_000_000


class _Degraded(BuilderError):  # noqa: N818 - what it is, as the families of the tree are
    """The service runs without this part, worse."""


async def examine(settings: Settings) -> list[dict[str, Any]]:
    """One finding a part: {part, ok, warning, said}. warning: it works, but worse than it could."""
    parts: tuple[tuple[str, Callable[[Settings], Awaitable[str]]], ...] = (
        ("python", _python),
        ("disk", _disk),
        ("model", _model),
        ("broker", check_broker),
        ("core", _core),
    )
    return [await _finding(name, check, settings) for name, check in parts]


async def _finding(name: str, check: Callable[[Settings], Awaitable[str]], settings: Settings) -> dict[str, Any]:
    try:
        return {"part": name, "ok": True, "warning": False, "said": await check(settings)}
    except _Degraded as error:
        return {"part": name, "ok": True, "warning": True, "said": str(error)}
    except BuilderError as error:
        return {"part": name, "ok": False, "warning": False, "said": str(error)}


async def _python(_settings: Settings) -> str:
    return sys.version.split()[0]


async def _disk(settings: Settings) -> str:
    folder = settings.data_dir.expanduser()
    while not folder.exists():
        folder = folder.parent
    free = (await asyncio.to_thread(shutil.disk_usage, folder)).free
    if free < LOW_DISK:
        raise BuilderError(f"{folder} has {free / 1e9:.1f} GB left; free some, or set CONTEXT_BUILDER_DATA_DIR")
    return f"{free / 1e9:.0f} GB free at {folder}"


async def _model(settings: Settings) -> str:
    said = "; ".join(f"{model['name']}: {model['state']}" for model in models(settings))
    if settings.embedding.engine == "onnx" and not all(model["ready"] for model in models(settings)):
        raise BuilderError(said)
    return said


async def _core(settings: Settings) -> str:
    async with open_core(settings) as core:
        count, left = await core.store.count(), await core.store.left()
        names = ", ".join(profile.consumer for profile in core.profiles)
        said = (
            f"{count} breadcrumbs in {settings.store_path}, {left} lack vectors; engine {core.embedder.model}; profiles {names}"
        )
        try:
            await core.embedder.embed("ready")
        except Unavailable as error:
            raise _Degraded(f"contexts are built by words alone: {error}; {said}") from error
    return said
