"""What operators do beside the running service: save, restore, move, rebuild and purge what is stored; dead letters, models."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from builder.extra import PURGING, Commands, Extra

if TYPE_CHECKING:
    from builder.app.line import JobParts
    from builder.worker.jobs import BackgroundJob


def _purging(parts: "JobParts") -> "AbstractAsyncContextManager[BackgroundJob | None]":
    from builder.extras.operations.purge_schedule import open_job

    return open_job(parts)


def _commands() -> Commands:
    from builder.extras.operations import store_commands, transfer_commands

    return {
        "migrate": store_commands.migrate,
        "migrate-store": store_commands.migrate_store,
        "reindex": store_commands.reindex,
        "backup": store_commands.backup,
        "restore": store_commands.restore,
        "purge": transfer_commands.purge,
        "export": transfer_commands.export,
        "import": transfer_commands.import_events,
    }


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.extras.operations import letter_commands, store_commands

    models: Commands = {
        "prepare": store_commands.prepare,
        "list": store_commands.list_models,
        "switch": store_commands.switch,
    }
    letters: Commands = {
        "list": letter_commands.list_dead_letters,
        "show": letter_commands.show_dead_letter,
        "retry": letter_commands.retry_dead_letter,
        "clear": letter_commands.clear_dead_letters,
    }
    return {"models": ("Embedding models.", models), "dead-letters": ("Rejected breadcrumbs, and why.", letters)}


async def _check_store(settings: Any, servers: str) -> str:
    from builder.extras.operations.store_check import check_store

    return await check_store(settings, servers)


extra = Extra(jobs={PURGING: _purging}, commands=_commands, groups=_groups, checks={"store": _check_store})
