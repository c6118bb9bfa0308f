"""Why a template does not compile, or failed, without words of people."""

import re
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

from jinja2 import Template, TemplateError

from builder.adapters.templates.sandbox.grammar import TAGS, NotInLanguage

MAX_REASON_CHARS = 200
COMPILED = "<template>"
"""File name of Jinja's code."""

_UNCLOSED = re.compile(r"Unexpected end of template.*The innermost block that needs to be closed is '(\w+)'")
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(\w+)'")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_TYPES = frozenset({"str", "int", "float", "bool", "list", "dict", "tuple", "NoneType", "Missing", "Fields", "Items", "Words"})


def compile_problem(error: Exception) -> tuple[str, str]:
    """Problem and remedy of a source that does not compile."""
    if isinstance(error, NotInLanguage):
        return error.problem, error.fix
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply", "set parts of it by {% set %}"
    message = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, ValueError) and not isinstance(error, TemplateError):  # Python's limit for numbers in digits
        return "a number of too many digits", "use a smaller one"
    if message == "unexpected '}'":
        return "a brace is alone", "write {{ before a value and }} after it"
    return _of_statements(message) or (message, "mend the template")


def _of_statements(message: str) -> tuple[str, str] | None:
    if opening := _UNCLOSED.search(message):
        return f"a block is not closed: {{% {opening[1]} %}}", f"write {{% end{opening[1]} %}} after it"
    if unknown := _UNKNOWN_TAG.search(message):
        return f"{{% {unknown[1]} %}} is no statement of templates", TAGS.get(unknown[1], "take it out, or mend its name")
    return None


def reason_of(error: Exception, template: Template, source: str) -> str:
    """Line and message, without quoted words of others."""
    message = str(error) if isinstance(error, TemplateError | TypeError) else ""
    text = " ".join(_QUOTED.sub(lambda quoted: _own(quoted.group(), source), message).split())
    kind = "" if isinstance(error, TemplateError) else f"{type(error).__name__}{': ' if text else ''}"
    line = _line(error.__traceback__, template)
    return f"{f'line {line}: ' if line else ''}{kind}{text}"[:MAX_REASON_CHARS]


def _own(quoted: str, source: str) -> str:
    word = quoted[1:-1]
    return quoted if word in source or word.removesuffix(" object") in _TYPES else f"{quoted[0]}…{quoted[0]}"


def _line(traceback: TracebackType | None, template: Template) -> int:
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == COMPILED:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


TemplateKind = Literal["hints", "pages"]
LLM_HINTS = "llm_hints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures of one template, or of the hints of records of one schema."""

    kind: TemplateKind | Literal["llm_hints"]
    name: str
    reason: str
    """The first failure, with the line of the template."""
    instead: str
    times: int = 1

    @property
    def file(self) -> str:
        """Path in the templates folder, or whose hints they are."""
        return f"{LLM_HINTS} of {self.name}" if self.kind == LLM_HINTS else f"{self.kind}/{self.name}.md.j2"
