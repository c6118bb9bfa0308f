"""The text that is searched for: the trigger, the last messages, or a text of the profile."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from builder.domain.profile import Retrieval
from builder.language.follow_up import is_follow_up
from builder.language.words import is_filler
from builder.recall.index.view import View
from builder.recall.search.query import strip_names

MAX_CHARS = 2_000
"""Of a longer text the beginning and the end are searched for; engines read no more than 256 word pieces anyway."""
CONTEXT_CHARS = 300
"""Characters of an earlier message in front of the trigger, which it must not cut off."""
LOOK_BACK_ROWS = 40
"""Rows of the session in which the last messages are looked for; only tools stand between two messages."""
_VOCATIVE = re.compile(r",\s*(?P<name>[^\W\d_a-zа-яё][^\W\d_]+)[\s!.…]*$")
"""A name after a comma, at the end of a greeting or thanks."""
TRIGGER = "{trigger}"
"""Stands for the trigger's text in a profile's own query."""


@dataclass(frozen=True, slots=True)
class QueryText:
    """What a consumer asks."""

    text: str
    """It is embedded, and searched for by its words."""
    context: str = ""
    """It is searched for by its words only."""
    is_small_talk: bool = False
    """The trigger asks for nothing."""


def query_text(trigger: str, view: View, rules: Retrieval, terms: Callable[[str], str]) -> QueryText:
    """The text for this profile. terms: text → stemmed terms.

    `last_user`: the trigger; a follow-up question has the person's message before it in front, and the words of the answer
    as context. `last_n`: the last messages of the conversation, the trigger last. `custom`: the profile's text, which asks even
    when the trigger does not.
    """
    trigger = _ends(trigger)
    match rules.query:
        case "custom":
            return QueryText(_ends(rules.query_text.replace(TRIGGER, trigger)))
        case "last_n":
            before = [text for text, _ in _last(view, rules.query_messages - 1)]
            return QueryText("\n".join((*reversed(before), trigger)), is_small_talk=_is_small_talk(trigger, view, terms))
        case _:
            return _widened(trigger, view, terms)


def _widened(trigger: str, view: View, terms: Callable[[str], str]) -> QueryText:
    question, names = strip_names(trigger, view.prefix.speakers)
    if names or not is_follow_up(question, terms):
        return QueryText(trigger, is_small_talk=_is_small_talk(trigger, view, terms))
    last = list(_last(view, 4))
    previous = next((text for text, by_person in last if by_person), "")
    answer = next((text for text, by_person in last if not by_person), "")
    return QueryText(f"{previous}\n{trigger}" if previous else trigger, answer)


def _is_small_talk(trigger: str, view: View, terms: Callable[[str], str]) -> bool:
    """Also with a name that the conversation does not know otherwise: "Thanks, Bob!"."""
    unnamed = strip_names(trigger, view.prefix.speakers)[0]
    if is_filler(trigger) or is_filler(unnamed):
        return True
    if (name := _VOCATIVE.search(trigger)) is None:
        return False
    is_known = any(view.prefix.occurrences(stem)[0].passages.size for stem in terms(name["name"]).split())
    return is_filler(trigger[: name.start()]) and not is_known


def _last(view: View, number: int) -> Iterator[tuple[str, bool]]:
    """(text, whether a person said it) of the last messages that say something, the newest first."""
    history, number_of_messages = view.history, 0
    for row in reversed(view.session_rows[max(view.session_size - LOOK_BACK_ROWS, 0) : view.session_size]):
        crumb = history.rows[row].breadcrumb
        if (
            number_of_messages < number
            and crumb.role in {"user", "assistant"}
            and view.current[row]
            and not history.breadcrumbs.filler.head(view.size)[row]
        ):
            number_of_messages += 1
            yield crumb.text[:CONTEXT_CHARS].strip(), crumb.role == "user"


def _ends(text: str) -> str:
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"
