"""Everything that builds contexts, without a bus: store, engine, profiles, templates."""

import contextlib
import logging
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

from nats.aio.client import Client
from nats.aio.msg import Msg

from builder.adapters.embedding import CachedEmbedder, Endpoint, list_models, open_embedder
from builder.adapters.files import FaultyFiles
from builder.adapters.nats.delivery import NatsDelivery
from builder.adapters.nats.publisher import NatsPublisher
from builder.adapters.stemmer import load_terms
from builder.adapters.templates.page_rendering import Listener, silence
from builder.adapters.tokens import load_counter
from builder.app.broker import StoreSchemes, locate_store, stores
from builder.app.config import ConfigSnapshot, in_daemon_thread, in_time, parse_config, read_config, read_preset, template_folders
from builder.app.record_makers import RecordMakers
from builder.app.settings import ENGINES, Settings
from builder.connection.errors import patiently
from builder.connection.names import Installation
from builder.domain.errors import Misconfigured, installation
from builder.domain.json_values import JsonObject
from builder.domain.lint_finding import NAME_LIKENESS, LintFinding, nearest
from builder.domain.profile import Profile
from builder.extra import additions
from builder.ports.contexts import Publisher
from builder.ports.models import NO_MODEL
from builder.ports.store import CompleteStore, Rebuild, StoreLocation
from builder.ports.stream import Delivery
from builder.recall.histories import HistoryCache
from builder.recall.search.chance import EVIDENCE, Calibration
from builder.recall.search.ranking import MEANING, Ranker, Weights
from builder.recall.search.signals import SIGNALS
from builder.remember.schemas.blacklist import excluded
from builder.service import ContextBuilder, Functions
from builder.worker.jobs import PACE, PAUSES, Pace, Pauses

log = logging.getLogger("builder.app.components")

FACTS_ENCODING = "o200k_base"
PREPARED_FOR = "onnx"
"""The engine of prepared models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Implementations and times of `open_components` and `open_service`."""

    stores: StoreSchemes = field(default_factory=stores)
    embedder: Callable[..., CachedEmbedder] = open_embedder
    publisher: Callable[[Client, int, Installation], Publisher] = NatsPublisher
    """Connection, largest payload, installation → publisher."""
    delivery: Callable[[Msg, int], Delivery] = NatsDelivery
    """Message, incarnation → delivery."""
    engine_seconds: float = 3.0
    """The start waits so long for the engine; embedding then catches up."""
    watch_seconds: float = 2.0
    """Between two checks of streams and durables."""
    reader: Callable[..., ConfigSnapshot] = read_config
    reading_seconds: float = 20.0
    """The longest that reading the files may take."""
    pauses: Pauses = PAUSES
    pace: Pace = PACE


PARTS = Parts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The opened parts."""

    builder: ContextBuilder
    store: CompleteStore
    embedder: CachedEmbedder
    config: ConfigSnapshot
    records: RecordMakers
    helpers: Functions
    history_cache: HistoryCache

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles of all consumers, by name."""
        return self.config.profiles

    def with_config(self, config: ConfigSnapshot) -> "Components":
        """Running builds keep theirs."""
        records = RecordMakers(config, _log_finding)
        helpers = replace(self.helpers, renderings=config.renderings, record_consumers=records)
        builder = self.builder.with_snapshot(config.profiles, helpers)
        return replace(self, builder=builder, config=config, records=records, helpers=helpers)

    def drop(self, workspace: str, ids: frozenset[str]) -> int:
        """From all caches; returns numbers of vectors and fragments."""
        self.history_cache.drop(workspace)
        self.records.forget()
        return self.embedder.forget() + sum(rendering.forget(workspace, ids) for rendering in self.config.renderings.values())

    def preset(self, name: str) -> Profile:
        """A profile of this preset alone. Raises `Misconfigured`, also for its own encoding."""
        profile = read_preset(name, self.config.library)
        if profile.encoding not in self.config.renderings:
            raise Misconfigured(
                f"preset {name!r} counts tokens of {profile.encoding}, as no profile does; add a profile that extends it"
            )
        return profile

    def profile(self, name: str) -> Profile:
        """A profile or preset. Raises `Misconfigured` with the known names."""
        for profile in self.profiles:
            if profile.consumer == name:
                return profile
        if name in self.config.library.presets:
            return self.preset(name)
        choices = [profile.consumer for profile in self.profiles]
        presets = sorted(self.config.library.presets.keys() - {*choices})
        near = nearest(name, (*choices, *presets), NAME_LIKENESS)
        fix = f"write {near}; " if near else ""
        raise Misconfigured(
            f"there is no profile {name!r}; {fix}profiles are {', '.join(choices)}, presets are {', '.join(presets)}; files of "
            "your own are read from the folder that CONTEXT_BUILDER_TEMPLATES_DIR names"
        )


@asynccontextmanager
async def open_components(
    settings: Settings,
    location: StoreLocation | None = None,
    *,
    parts: Parts = PARTS,
    patience: float | None = None,
    failed: Listener = silence,
    preset: str = "",
    last_good: bool = False,
    waits: bool = False,
) -> AsyncIterator[Components]:
    """Store, engine, profiles, templates. Raises `Misconfigured`.

    location: instead of the configured store; embeds at ingestion. patience: seconds for the engine, None = unlimited. failed:
    called per breadcrumb that a template fails on. preset: read as a profile if there is none. last_good: replace unusable
    files by the store's last valid ones. waits: for a store that cannot be reached, else `Unavailable` is raised.
    """
    async with AsyncExitStack() as stack:
        chosen, folders = location or locate_store(settings, parts.stores), template_folders(settings)
        reading = in_daemon_thread(partial(parts.reader, folders, failed=failed, preset=preset))
        try:
            config = await in_time(reading, parts.reading_seconds, folders)
        except FaultyFiles as error:
            last = await _last_good(chosen, failed) if last_good else None
            if last is None:
                raise
            log.error("started with the last good profiles and templates: %s", error)  # noqa: TRY400 - the sentence says it all
            config = replace(last, problem=f"the last good profiles and templates are in force: {error}")
        embedder = begin_loading(settings, settings.embedding.engine, settings.embedding.cache_size, parts.embedder)
        stack.push_async_callback(embedder.aclose)
        opening = partial(_entered, stack, chosen)
        store = await (patiently(opening, "the start") if waits else opening())
        await _same_model(store, embedder.model)
        await embedder.ready(patience)
        records = RecordMakers(config, _log_finding)
        helpers = Functions(
            terms=load_terms(),
            count=load_counter(FACTS_ENCODING),
            renderings=config.renderings,
            ranker=load_ranker(),
            excluded=excluded,
            record_consumers=records,
        )
        history_cache = HistoryCache(settings.store.cached_passages)
        at_ingestion = None if location else settings.embedding.passages_at_ingestion
        builder = ContextBuilder(store, embedder, config.profiles, helpers, history_cache, at_ingestion)
        yield Components(
            builder=builder, store=store, embedder=embedder, config=config, records=records, helpers=helpers,
            history_cache=history_cache,
        )  # fmt: skip


async def _entered(stack: AsyncExitStack, location: StoreLocation) -> CompleteStore:
    return await stack.enter_async_context(location.open())


def load_ranker() -> Ranker:
    """From `recall/search/ranker.toml`. Raises `Misconfigured` for an unknown signal."""
    tables = tomllib.loads((files("builder.recall.search") / "ranker.toml").read_text("utf-8"))
    hybrid, words = (
        Weights(table["passages"], table["answer"], Calibration(**table["calibration"]))
        for table in (tables["hybrid"], tables["words"])
    )
    unknown = (hybrid.passages.keys() | words.passages.keys()) - SIGNALS.keys()
    unknown |= (hybrid.answer.keys() | words.answer.keys()) - set(EVIDENCE)
    if unknown or MEANING & (words.passages.keys() | words.answer.keys()):
        raise Misconfigured(f"ranker.toml weighs {', '.join(sorted(unknown)) or 'meaning without a model'}; see ranking.py")
    return Ranker(hybrid=hybrid, words=words)


def prepare_model(settings: Settings, source: Path | None = None) -> JsonObject:
    """source: a folder; None = the default model. Raises `Misconfigured`."""
    makers = additions("model_makers")
    if PREPARED_FOR not in makers:
        raise Misconfigured(f"no installed extra prepares models for the engine {PREPARED_FOR}; {installation('service')}")
    model = makers[PREPARED_FOR](settings.models_dir, source)
    return {name: str(value) if isinstance(value, Path) else value for name, value in model.items()}


def models(settings: Settings) -> list[JsonObject]:
    """Prepared models and the default one, and whether they are ready."""
    return list_models(settings.models_dir)


counter = partial(load_counter, FACTS_ENCODING)
"""Makes the function text → true tokens (o200k_base)."""


async def _last_good(location: StoreLocation, failed: Listener) -> ConfigSnapshot | None:
    if not await location.exists():
        return None
    async with location.open() as store:
        editions = await store.editions("")
    with contextlib.suppress(FaultyFiles):
        return parse_config(editions[0].layers, failed=failed, was_in_force=True) if editions else None
    return None


def _log_finding(finding: LintFinding) -> None:
    log.log(logging.WARNING if finding.severity == "error" else logging.INFO, "%s", finding)


async def _same_model(store: Rebuild, model: str) -> None:
    engines = await store.models() - {"", NO_MODEL}
    if engines and model != NO_MODEL and model not in engines:
        raise Misconfigured(
            f"the store holds vectors of {', '.join(sorted(engines))}, the engine is {model}; "
            "run `context-builder reindex` with the service stopped, or set CONTEXT_BUILDER_EMBEDDING__ENGINE and __MODEL back"
        )


def begin_loading(
    settings: Settings, engine: str, cache_size: int, opener: Callable[..., CachedEmbedder] = open_embedder
) -> CachedEmbedder:
    """As `open_embedder`. cache_size: vectors."""
    chosen = settings.embedding
    endpoint = Endpoint(
        url=chosen.url,
        model=chosen.model,
        key=chosen.key.get_secret_value(),
        dimensions=chosen.dimensions,
        batch=chosen.batch,
        timeout=chosen.timeout_seconds,
        attempts=chosen.attempts,
    )
    query, document = (chosen.query_prefix, chosen.query_type), (chosen.document_prefix, chosen.document_type)
    engines = additions("engines", ENGINES)
    return opener(engine, chosen.model, settings.models_dir, cache_size, query, document, endpoint, engines)
