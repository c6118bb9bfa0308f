"""The corpus of hostile texts, and what would show that one of them was evaluated."""

import os
import re
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.examples import is_full

FOLDER = Path(__file__).parent / "unit" / "adapters" / "templates" / "payloads"
CANARY = "canary-5f3d-of-the-process"
"""Value of an environment variable and content of a file, which no page may show."""
CANARY_VARIABLE = "HOSTILE_CANARY"
os.environ[CANARY_VARIABLE] = CANARY
MARKERS = (
    "1337", "191191191", "<class", "<function", "<built-in", "<bound", "<module", "<generator", "<Macro", "<LoopContext",
    "<TemplateReference", "<Context", "<slot", "<method", "<code", "<frame", "reverseiterator", "dict_keys(", "dict_items(",
    "mappingproxy", "object at 0x", "Undefined", "catch_warnings", "uid=", "root:x:", "SECRET_KEY=", "sandbox/environment",
    "site-packages", CANARY,
)  # fmt: skip
"""What evaluation, Python's internals, a command or a file would show."""
SHORT_CHARS = 2_000
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True, slots=True)
class Payload:
    """A hostile text."""

    family: str
    name: str
    text: str
    stops: str
    """What becomes of it as the source of a hint: refused, fails, text, harmless."""

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"

    @property
    def short(self) -> str:
        """As much of it as fits a page several times, with its end."""
        return self.text if len(self.text) <= SHORT_CHARS else self.text[: SHORT_CHARS - 200] + self.text[-200:]


@cache
def payloads() -> tuple[Payload, ...]:
    return tuple(each for file in sorted(FOLDER.glob("*.toml")) for each in _of_family(file))


def _of_family(file: Path) -> list[Payload]:
    entries = tomllib.loads(file.read_text("utf-8"))["payload"]
    return [Payload(file.stem, entry["name"], _text(entry), entry["stops"]) for entry in entries]


def _text(entry: dict[str, object]) -> str:
    """As it is written, or put together: each part so many times."""
    parts = entry.get("parts", ())
    assert isinstance(parts, list | tuple)
    return str(entry["text"]) if "text" in entry else "".join(part * times for part, times in parts)


def leaks(shown: str, written: str) -> list[str]:
    """What stands in a text that only evaluation can have put there. written: all that was sent."""
    found = [marker for marker in MARKERS if marker in shown and marker not in written]
    return found + [address for address in _ADDRESS.findall(shown) if address not in written]


def marked(payload: Payload) -> bool:
    """Whether the text itself contains what only evaluation could show of the others."""
    return leaks(payload.text, "") != []


def _sample(corpus: Sequence[Payload]) -> tuple[Payload, ...]:
    """The middle of each family and verdict; with all examples the first and the last, too."""
    groups: dict[tuple[str, str], list[Payload]] = {}
    for payload in corpus:
        groups.setdefault((payload.family, payload.stops), []).append(payload)
    picks = (group[at] for group in groups.values() for at in ((0, len(group) // 2, -1) if is_full() else (len(group) // 2,)))
    return tuple(dict.fromkeys(picks))


def pages_of(texts: Sequence[Payload]) -> tuple[tuple[Payload, ...], ...]:
    """The texts by the page, those that contain a marker on pages of their own."""
    kinds = [tuple(payload for payload in texts if marked(payload) is kind) for kind in (False, True)]
    return tuple(kind[at : at + TEXTS_OF_PAGE] for kind in kinds for at in range(0, len(kind), TEXTS_OF_PAGE))


@contextmanager
def naming(payload: Payload) -> Iterator[None]:
    """An error within the block names the text."""
    try:
        yield
    except Exception as error:
        error.add_note(f"payload: {payload.id}")
        raise


async def faults_by_payload(
    page: Sequence[Payload], faults: Callable[[Sequence[Payload]], Awaitable[list[str]]]
) -> dict[str, list[str]]:
    """Id → what is wrong. faults: of one page with all of these texts; each has a page of its own once there are some."""
    together = await faults(page)
    if not together:
        return {}
    alone = {payload.id: await faults([payload]) for payload in page}
    return {identity: found for identity, found in alone.items() if found} or {"all on one page": together}


TEXTS_OF_PAGE = 20
PAYLOADS = payloads()
FAMILIES = sorted({payload.family for payload in PAYLOADS})
SAMPLE = _sample(PAYLOADS)
"""For the forms in which a text is data: each has the same way to the page, whatever the text says."""
PAGES = pages_of(SAMPLE)
