"""A builder that holds everything in memory, for checks that make thousands of sessions, and the bundled hints for timing."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from jinja2 import Template
from nats.js import JetStreamContext

from builder.adapters.embedding import CachedEmbedder
from builder.adapters.nats.topology import BREADCRUMBS, all_breadcrumbs, ensure_streams, replayed_breadcrumbs
from builder.adapters.templates.examples import full
from builder.adapters.templates.folder import GENERIC, TemplateSet, templates_of
from builder.adapters.templates.fragments import MAX_CHARS, JinjaRendering
from builder.adapters.templates.sandbox.environment import bare
from builder.adapters.templates.trial import example
from builder.adapters.templates.values import values_of
from builder.adapters.tokens import load_counter, load_encoder
from builder.app.broker import IN_MEMORY, location, open_bus, topology
from builder.app.components import FACTS_ENCODING, begin_loading, load_ranker
from builder.app.config import bundled_folder, load_library, load_profiles, read_layers, read_preset
from builder.app.settings import Settings
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.list_items import items
from builder.bench.speed.sandbox import Renderer
from builder.domain.profile import Profile
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.recall.histories import HistoryCache
from builder.recall.search.ranking import Ranker
from builder.remember.schemas.blacklist import excluded
from builder.service import ContextBuilder, Functions

if TYPE_CHECKING:
    from builder.app.service import Service

ENCODINGS = ("o200k_base", "cl100k_base")
MAX_PASSAGES = 10_000
encoder = load_encoder
"""Encoding → text → token numbers."""


@asynccontextmanager
async def open_scratch(
    embedder: Embedder, terms: Callable[[str], str], counter: Callable[[str], Callable[[str], int]] = load_counter
) -> AsyncIterator[ContextBuilder]:
    """Bundled templates and weights with an empty store in memory. Raises `Misconfigured`; see `scratch_builder`."""
    async with location(IN_MEMORY).open() as store:
        yield scratch_builder(store, embedder, terms, counter)


def scratch_builder(
    store: Store, embedder: Embedder, terms: Callable[[str], str], counter: Callable[[str], Callable[[str], int]] = load_counter
) -> ContextBuilder:
    """Bundled templates and weights over a store. Raises `Misconfigured`.

    terms: text → terms joined by spaces; the real ones are dear where sessions are made by the thousand. counter: encoding →
    what counts its tokens.
    """
    renderings = {encoding: JinjaRendering(_templates(), counter(encoding)) for encoding in ENCODINGS}
    helpers = Functions(terms=terms, count=counter(FACTS_ENCODING), renderings=renderings, ranker=_ranker(), excluded=excluded)
    return ContextBuilder(store, embedder, (), helpers, HistoryCache(MAX_PASSAGES))


async def open_encoder(settings: Settings, engine: str = "") -> CachedEmbedder:
    """A loaded engine without cache."""
    embedder = begin_loading(settings, engine or settings.embedding.engine, 0)
    await embedder.ready()
    return embedder


@cache
def bundled_profiles() -> tuple[Profile, ...]:
    """Every bundled profile and every preset as a profile."""
    layers = read_layers((bundled_folder("templates"),))
    library = load_library(layers)
    profiles = [profile for profile in load_profiles(layers, library) if profile.chat_format is None]
    presets = (read_preset(name, library) for name in sorted(library.presets.keys() - {"default"}))
    return (*profiles, *presets)


@asynccontextmanager
async def open_streams(settings: Settings) -> AsyncIterator[tuple[JetStreamContext, str]]:
    """JetStream of the settings' broker, with the streams of the service and no service; and the name of BREADCRUMBS."""
    async with open_bus(settings) as bus:
        js = bus.connection.jetstream()
        await ensure_streams(js, topology(settings))
        yield js, settings.installation.stream(BREADCRUMBS)


async def unsettled(service: "Service") -> int:
    """Breadcrumbs that wait or are in work."""
    number = 0
    for durable in (all_breadcrumbs(service.installation), replayed_breadcrumbs(service.installation)):
        info = await service.js.consumer_info(durable.stream, durable.durable)
        number += (info.num_pending or 0) + (info.num_ack_pending or 0)
    return number


def bundled_renderers() -> list[Renderer]:
    """Every bundled hint on each of its examples, in the sandbox and by Jinja alone."""
    templates, renderers = _templates(), list[Renderer]()
    for name, source in sorted(templates.sources["hints"].items()):
        template = bare(source)
        for body in full(name):
            crumb = example(name if name != GENERIC else "example.v1", body)
            values = values_of(crumb, body, WHOLE, crumb.speaker, MAX_CHARS, templates.phrases())
            sandboxed = partial(templates.hint, name, values, len(crumb.body) + len(crumb.text))
            renderers.append((name, sandboxed, partial(_by_jinja, template, values)))
    return renderers


def _by_jinja(template: Template, values: dict[str, Any]) -> str:
    return items("".join(template.root_render_func(template.new_context(dict(values)))))


@cache
def _ranker() -> Ranker:
    return load_ranker()


@cache
def _templates() -> TemplateSet:
    return TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))
