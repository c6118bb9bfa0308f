"""What an extra brings, and the extras that are installed: ours and other people's, found the same way."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal

from builder.domain.errors import BuilderError, Misconfigured
from builder.worker.requests import Host, Request

if TYPE_CHECKING:
    from builder.domain.lint_finding import LintFinding
    from builder.ports.store import StoreLocation

__all__ = ["Check", "Commands", "Degraded", "Extra", "Host", "Lint", "Request", "additions", "extras"]
GROUP = "context_builder.extras"
"""Entry points of packages: the name of an extra, and where its `Extra` is."""


Kind = Literal["stores", "requests", "checks", "lints", "commands", "groups"]
REQUEST_NAME = re.compile("[a-z_]+")
"""A token of a subject and a part of a path."""
Commands = Mapping[str, Callable[..., None]]
"""Name → function, as typer takes it."""
Check = Callable[[Any, str], Awaitable[str]]
"""The service's `Settings`, and the URLs of its broker ("" = none is configured) → how the part is. Raises `BuilderError`."""
Lint = Callable[[Any, tuple[str, ...]], Iterable["LintFinding"]]
"""The service's `Settings` and names of profiles → what is wrong with an author's files of them. Raises `Misconfigured`."""
LOADING = (AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError, SyntaxError, TypeError, ValueError)
"""What somebody else's module raises when it is loaded."""


class Degraded(BuilderError):  # noqa: N818 - what it is, as the families of the tree are
    """Raised by a check: the service runs without this part, worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """What a package adds. It is made when a command starts, so its module imports nothing heavy."""

    stores: Mapping[str, Callable[[str], "StoreLocation"]] = field(default_factory=dict)
    """Scheme of a URL → the location that the URL names."""
    requests: Callable[[], Mapping[str, Request]] = dict
    """Called by the service: a command needs no models of requests."""
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


def additions(kind: Kind, house: Iterable[str] = ()) -> dict[str, Any]:
    """What the extras bring. house: names that the house has itself. Raises `Misconfigured` for a name that two have."""
    names, every = set(house), dict[str, Any]()
    for name, extra in extras().items():
        own = getattr(extra, kind)
        for key, value in (own() if callable(own) else own).items():
            if kind == "requests" and not REQUEST_NAME.fullmatch(key):
                raise Misconfigured(f"the extra {name!r} brings a request {key!r}; its name may have small letters and _ only")
            if key in names:
                raise Misconfigured(f"the extra {name!r} brings {key!r} to the {kind}, which has it already; uninstall it")
            names.add(key)
            every[key] = value
    return every
