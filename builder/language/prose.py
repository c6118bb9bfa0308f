"""What of a text is prose: neither code, nor a log, a trace, a table, data, or a list of addresses."""

import re

_FENCED = re.compile(r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\b(?:https?|ftp|file)://\S+|\bwww\.\S+")
_NAME = re.compile(r"(?:[\w.-]*/)+[\w.-]+(?::\d+)*|\b\w+(?:(?:_|::|\.|->)\w+)+(?:\(\))?|\b\w+\(\)|\B--?[a-z][\w-]*")
"""A path, an identifier, a call, an option: what people name in prose."""
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
_WORD = re.compile(r"[^\W\d_]{2,}")
_PLAIN = frozenset(".,;:!?'’\"“”„«»‚‘¿¡%$€£+&/-–—…·°º。，！、；：（）()？「」《》×@#*~")
_CODE_SIGNS = re.compile(r"\w\([^)\s]*[=\"'\[{]|[{}<>=\\|_]")
_IN_BRACKETS = re.compile(r"\[.*\]$", re.DOTALL)


def without_blocks(text: str) -> str:
    """The text with line ends in place of every line that is no prose: all places stay where they are."""
    left, in_code = [], False
    for line in _FENCED.sub(lambda found: "\n" * len(found.group()), text).splitlines(keepends=True):
        in_code = _is_block(line) or (in_code and line[:2] in {"  ", "\t"})
        left.append("\n" * len(line) if in_code else line)
    return "".join(left)


def is_prose(sentence: str) -> bool:
    """Few signs that prose has no use for, beside what it names: an attachment's brackets yes, a line of code no."""
    plain = _plain(sentence.strip("[]"))
    odd = sum(not (sign.isalnum() or sign.isspace() or sign in _PLAIN) for sign in plain)
    digits = sum(sign.isdigit() for sign in plain)
    return 25 * odd <= len(plain) and 2 * digits <= len(plain) and not _CODE_SIGNS.search(plain)


def _is_block(line: str) -> bool:
    """Whether a line belongs to code, a log, a trace, a table, data or a list of addresses."""
    held = line.rstrip("\r\n")
    if any(kind.match(held) for kind in (_LOGGED, _TRACED, _REPORTED, _CODED)) or _TABLE.search(held.strip()):
        return True
    if _COMMA_SEPARATED.match(held.strip()):
        return True
    return bool(_ADDRESS.search(held)) and len(_WORD.findall(_ADDRESS.sub(" ", held))) < 4  # noqa: PLR2004 - no sentence


def _plain(sentence: str) -> str:
    """With a word in place of what it names."""
    return _NAME.sub("name", _ADDRESS.sub("name", _INLINE.sub("name", sentence)))
