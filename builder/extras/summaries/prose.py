"""Which lines of a text are prose, and which are code, logs and tables."""

import re

_FENCED = re.compile(r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\b(?:https?|ftp|file)://\S+|\bwww\.\S+")
_IDENTIFIER = re.compile(r"(?:[\w.-]*/)+[\w.-]+(?::\d+)*|\b\w+(?:(?:_|::|\.|->)\w+)+(?:\(\))?|\b\w+\(\)|\B--?[a-z][\w-]*")
"""A path, an identifier, a call or an option, as prose mentions it."""
_LOGGED = re.compile(
    r"\W*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[.,\s]|"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b\s*[:\]|\-])"
)
_TRACED = re.compile(r"\s*(?:Traceback \(|File \"|at [\w.$<>/]+[ (:]\S*\d+\)?$|Caused by:|\w*(?:Error|Exception)\b:\s|\^+$)")
_REPORTED = re.compile(r"\W*\d+ (?:passed|failed|skipped|errors?)\b.*\bin \d|[=*~_#-]{4,}|\d+%\|")
_CODED = re.compile(
    r"\s*(?:from [\w.]+ import\b|import [\w.{*]+;?$|(?:async )?def \w+|class \w+\s*[:({]|(?:const|let|var)\s+\w+\s*=|#include\b|"
    r"(?:public|private|protected|static)\s+\w+|return\b.*(?:[-+*/%=<>]\s|\w[(\[.]\w|;$)|SELECT\b.*\bFROM\b|\$ \S|>>> |"
    r"diff --git|@@ |[-+]{3} \S)"
    r"|.*[;{}]\s*$|.*\w\([^)]*\)\s*[:;{]\s*$|\s*[\"'][\w -]+[\"']\s*:|\s*[\w.-]+\s*(?:[:=]\s*[\[{\"']|=\s*\d)\S*,?$|\s*[\]}),]+$"
)
_TABLE = re.compile(r"\|.*\||\t.*\t|\S {2,}\S+.* {2,}\S")
_COMMA_SEPARATED = re.compile(r"[^,\s]+(?:,[^,\s]*){3,}$")
_LETTERS_ONLY = re.compile(r"[^\W\d_]{2,}")
MIN_WORDS = 4
"""Words beside an address that make a sentence of its line."""
CHARS_PER_ODD, CHARS_PER_DIGIT = 25, 2
"""Fewest characters of a sentence for each odd one, and for each digit, in it."""
_PLAIN = frozenset(".,;:!?'’\"“”„«»‚‘¿¡%$€£+&/-–—…·°º。，！、；：（）()？「」《》×@#*~")
_CODE_SIGNS = re.compile(r"\w\([^)\s]*[=\"'\[{]|[{}<>=\\|_]")


def without_blocks(text: str) -> str:
    """The text with line ends in place of every line that is no prose; offsets stay the same."""
    lines, in_code = [], False
    for line in _FENCED.sub(lambda block: "\n" * len(block.group()), text).splitlines(keepends=True):
        in_code = _is_block(line) or (in_code and line[:2] in {"  ", "\t"})
        lines.append("\n" * len(line) if in_code else line)
    return "".join(lines)


def is_prose(sentence: str) -> bool:
    """Whether few of its characters are rare in prose; names in it do not count."""
    plain = _IDENTIFIER.sub("name", _ADDRESS.sub("name", _INLINE.sub("name", sentence.strip("[]"))))
    odd = sum(not (sign.isalnum() or sign.isspace() or sign in _PLAIN) for sign in plain)
    digits = sum(sign.isdigit() for sign in plain)
    return CHARS_PER_ODD * odd <= len(plain) and CHARS_PER_DIGIT * digits <= len(plain) and not _CODE_SIGNS.search(plain)


def _is_block(line: str) -> bool:
    content = line.rstrip("\r\n")
    is_odd = any(kind.match(content) for kind in (_LOGGED, _TRACED, _REPORTED, _CODED))
    if is_odd or _TABLE.search(content.strip()) or _COMMA_SEPARATED.match(content.strip()):
        return True
    return bool(_ADDRESS.search(content)) and len(_LETTERS_ONLY.findall(_ADDRESS.sub(" ", content))) < MIN_WORDS
