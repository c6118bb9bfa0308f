"""A client for tests of agents: broker and service in memory, without NATS, files or a model.

    async with memory_client(profiles={"my-agent": {"extends": "default", "budget": 800}}) as client:
        context = await client.ask("s1", "Where does the API key go?", consumer="my-agent")

It is the client of `builder.client` over a broker in memory, with the real worker, builder and templates behind it. One contract
suite (`tests/contract/test_client.py`) runs over it and over a real nats-server with a real service. It needs the extra
`testing`, `pip install '.[testing]'` in a clone of the repository.
"""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from builder.client.client import Client
from builder.domain.errors import Misconfigured, installation
from builder.wire.subjects import check_token

__all__ = ["memory_client"]


@asynccontextmanager
async def memory_client(
    *,
    profiles: Mapping[str, str | Mapping[str, Any]] | None = None,
    templates: Path | str | None = None,
    workspace: str = "default",
    engine: Literal["none", "onnx"] = "none",
) -> AsyncIterator[Client]:
    """A client with a service of its own for the block; what it was sent is gone with it.

    profiles: name → YAML text or its values, beside the bundled ones. templates: a folder laid over the bundled templates, as
    CONTEXT_BUILDER_TEMPLATES_DIR names it. engine: "none" finds by words alone and starts at once; "onnx" is the prepared model,
    of the extra `service`.
    No environment variable counts. A look-up sees all that was sent before it. Tool calls do not time out, and sessions are
    summarised by `compact` only. Raises `Misconfigured` for a profile or template that is wrong, and without the installation,
    and `Rejected` for a name that fits no subject.
    """
    try:
        from builder.app.in_memory import open_in_memory  # noqa: PLC0415 - the base installation lacks what it needs
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"{error.name} is not installed: builder.testing runs the whole service in memory; {installation('testing')}"
        ) from error
    check_token(workspace, "workspace")
    with tempfile.TemporaryDirectory(prefix="context-builder-") as folder:
        own = _folder(Path(folder) / "templates", templates, profiles or {})
        async with open_in_memory(own, engine) as broker:
            yield Client(broker.connection, workspace)


def _folder(target: Path, templates: Path | str | None, profiles: Mapping[str, str | Mapping[str, Any]]) -> Path:
    """Templates and profiles in one folder. JSON is YAML."""
    if templates is not None:
        if not Path(templates).is_dir():
            raise Misconfigured(f"templates is {str(templates)!r}, which is no folder; give one with profiles/, hints/ or pages/")
        shutil.copytree(templates, target)
    (target / "profiles").mkdir(parents=True, exist_ok=True)
    for name, profile in profiles.items():
        check_token(name, "profile name")
        text = profile if isinstance(profile, str) else json.dumps(profile, ensure_ascii=False)
        (target / "profiles" / f"{name}.yaml").write_text(text, "utf-8")
    return target
