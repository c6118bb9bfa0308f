"""Imported once by the process that commands are forked from: each of them starts with these modules and with warm caches.

Frozen, what is here costs a command no collection of garbage.
"""

import gc

import builder.app
import builder.app.http.opening
import builder.cli.build
import builder.cli.doctor
import builder.cli.registry
import builder.cli.serve  # noqa: F401
from builder.adapters.stemmer import load_terms
from builder.app.config import bundled_folder, read_config
from builder.app.health import code_revision

load_terms()("a kiln")
code_revision()
read_config((bundled_folder("templates"),))
gc.collect()
gc.freeze()
