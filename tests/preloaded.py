"""Imported once by the process that commands are forked from: each of them starts with these modules and with warm caches.

Frozen, what is here costs a command no collection of garbage.
"""

import asyncio
import gc
import os
import threading
from functools import cache

# ONNX Runtime reads it while it is imported; see `builder.cli.main`.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import anyio._backends._asyncio  # noqa: F401 - imported by its name at the first request
import numpy.ma  # noqa: F401 - numpy imports it at the first use
import rich.progress  # noqa: F401 - the same, for bars
import structlog  # noqa: F401 - imported for lines of JSON
import typer.main

import builder.app
import builder.cli.doctor
import builder.cli.serve
import builder.extras.http.door
import builder.extras.http.opening
import builder.extras.postgres.location
import builder.extras.summaries.opening  # noqa: F401
import tests.warm  # noqa: F401
from builder.adapters.embedding import onnx
from builder.adapters.embedding.prepared import NAMES, read_prepared
from builder.adapters.stemmer import load_terms
from builder.app.config import bundled_folder, read_config
from builder.app.settings import EmbeddingSettings, Settings
from builder.app.telemetry import code_revision
from builder.cli.build import build_once
from builder.cli.registry import application
from builder.extras.contracts.descriptions import metadata
from builder.extras.demo.sample import sample_lines

load_terms()("a kiln")
code_revision()
metadata()
read_config((bundled_folder("templates"),))
# A page reads the word lists, compiles their patterns and the templates, and counts tokens. A long one starts a thread.
asyncio.run(
    build_once(Settings(embedding=EmbeddingSettings(engine="none")), sample_lines()[1:30], "w", "s", "default", "", print)
)
# The model of a thread has no other threads, so a fork may use it: each service would take a sixth of a second to load it.
onnx.OnnxModel = cache(onnx.OnnxModel)  # type: ignore[assignment, misc]
if (prepared := Settings().models_dir / NAMES[0]).is_dir():
    onnx.OnnxModel(prepared, read_prepared(prepared).window).encode("a kiln")
assert threading.active_count() == 1, "a fork has none of the other threads, and waits for them"
# It makes the tree of all commands, whichever is asked for.
typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(application)
gc.collect()
gc.freeze()
