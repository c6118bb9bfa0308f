"""The corpus of hostile texts, and what would show that one of them was evaluated."""

import os
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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


def is_clean(error: Exception, payload: Payload) -> bool:
    """Whether the message of an error shows nothing that was evaluated."""
    return leaks(str(error), payload.text) == []


def leaks(shown: str, written: str) -> list[str]:
    """What stands in a text that only evaluation can have put there. written: all that was sent."""
    found = [marker for marker in MARKERS if marker in shown and marker not in written]
    return found + [address for address in _ADDRESS.findall(shown) if address not in written]


PAYLOADS = payloads()
