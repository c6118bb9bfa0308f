"""Scripts: which letters they have, and which write no spaces between words."""

import re

HAN = "\u3400-\u9fff"
KANA = "\u3040-\u30ff"
"""Inside of a class of characters, as `HAN`."""
UNSPACED = re.compile(f"[{KANA}{HAN}]")
"""A character of a script that writes no spaces between words."""
HAN_WORD = re.compile(f"[{HAN}]+")

SPACED_SCRIPTS = frozenset({"latin", "cyrillic"})
"""Names of scripts that write spaces between words."""
LETTERS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "han": re.compile(f"[{HAN}]"),
    "kana": re.compile(f"[{KANA}]"),
}
"""Name of a script → a letter of it; Latin letters stand in texts of all languages and tell nothing."""
