"""Writer, recall and ledger of one page, for tests of single parts of assembly."""

from collections.abc import Iterable
from typing import Any

from builder.assemble.assemble import begin
from builder.assemble.budget.ledger import Ledger
from builder.assemble.draft import PageDraft
from builder.assemble.items.labels import Labels
from builder.assemble.items.writer import Writer
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.recall.recall import ConsumerRecall
from builder.recall.scopes import scope_of
from tests.conversations import said
from tests.factories import known_history, make_profile, make_rendering, make_terms, view_of

ASK = said(800, "And now?")


def make_recall(
    rows: Iterable[StoredBreadcrumb | str], profile: Profile | None = None, trigger: StoredBreadcrumb = ASK, **changes: Any
) -> ConsumerRecall:
    """All that the trigger may see of these rows. changes: any of its fields."""
    profile, crumb = profile or make_profile(), trigger.breadcrumb
    fields: dict[str, Any] = {
        "trigger": crumb,
        "view": view_of(known_history(rows), crumb.place, crumb.session),
        "pinned": tuple(() for _ in profile.pinned),
        "system_prompt": profile.system_prompt,
        "profile": profile,
        "terms": make_terms,
        "scope": scope_of(crumb, profile),
        "turn": (),
    }
    return ConsumerRecall(**(fields | changes))


def writer_of(recall: ConsumerRecall) -> Writer:
    """With the bundled templates."""
    rendering = make_rendering(recall.profile.encoding)
    labels = Labels(recall.view, recall.trigger, rendering.phrases, frozenset({recall.profile.consumer}))
    return Writer(view=recall.view, profile=recall.profile, rendering=rendering, labels=labels, now=recall.trigger)


def make_draft(
    rows: Iterable[StoredBreadcrumb | str], profile: Profile | None = None, trigger: StoredBreadcrumb = ASK, **changes: Any
) -> PageDraft:
    """A page without what is searched for. changes: of the recall."""
    return begin(make_recall(rows, profile, trigger, **changes), make_rendering())


def make_writer(rows: Iterable[StoredBreadcrumb | str], profile: Profile | None = None) -> Writer:
    """For the page of a trigger after these rows."""
    return writer_of(make_recall(rows, profile))


def make_ledger(writer: Writer, allowance: int = 1000) -> Ledger:
    """Empty."""
    return Ledger(writer, allowance)


def filled_ledger(writer: Writer, *sections: str) -> Ledger:
    """One message in each of these sections."""
    filled = make_ledger(writer)
    for row, section in enumerate(sections):
        filled.put(section, [writer.message(writer.view.breadcrumb(row), row)], "of the test")
    return filled
