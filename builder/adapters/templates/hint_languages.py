"""Hints that records bring, in the languages that extras read."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from builder.adapters.templates.sandbox.runtime import Limits
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.json_values import JsonObject

Limit = Callable[[Any], Any]
"""JSON → JSON of bounded size."""


class HintLanguage(Protocol):
    """Reads and applies the hints of records."""

    def text(self, hints: str, breadcrumb: Breadcrumb, body: JsonObject, values: JsonObject, limit: Limit) -> str:
        """The item of a breadcrumb; "" = the hints change nothing, or are of another language. hints: JSON.

        body: of the breadcrumb. values: what its hint template would get. Raises `TemplateFailed`.
        """

    def forget(self) -> None:
        """Drop all texts of this process, after an erasure."""


LanguageMaker = Callable[[Limits], HintLanguage]
"""Limits of each rendering → the language."""


class RecordHints:
    """The languages of one rendering. Each is made when the first hints come: most records bring none."""

    def __init__(self, makers: Sequence[LanguageMaker], limits: Limits) -> None:
        self.makers = makers
        self._limits = limits
        self._languages: tuple[HintLanguage, ...] | None = None

    def text(self, hints: str, breadcrumb: Breadcrumb, body: JsonObject, values: JsonObject, limit: Limit) -> str:
        """As the first language that shows something. See `HintLanguage.text`."""
        if self._languages is None:
            self._languages = tuple(make(self._limits) for make in self.makers)
        texts = (language.text(hints, breadcrumb, body, values, limit) for language in self._languages)
        return next(filter(None, texts), "")

    def forget(self) -> None:
        """See `HintLanguage.forget`."""
        for language in self._languages or ():
            language.forget()
