"""Why something is on the page, in a few words."""

from builder.assemble.assemble import Assembly
from builder.assemble.items.draft import Item
from builder.assemble.sources.pinned import section_rows
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Fragment
from builder.domain.profile import SectionRule
from builder.domain.selector import Pinned
from builder.domain.summary import SUMMARY
from builder.recall.search.retrieval import Find

OWN_WORDS = {"system": "the system prompt", "reminder": "a reminder of the profile"}
"""Source of a section → what of the profile or of the agent's definition stands there word for word."""
FIXED = {
    "summary": "a summary of what the page does not show of the session",
    "instructions": "an instruction that still holds",
}
"""Source of a section → why all of it is there."""
FURNITURE = "heading, date or note of the service"
"""Reason of lines that come from no breadcrumb."""


class Reasons:
    """The reasons of one page."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._finds: dict[int, list[Find]] = {}
        for find in (*assembly.retrieval.finds, *assembly.retrieval.neighbours):
            self._finds.setdefault(find.row, []).append(find)
        self._neighbours = {find.row for find in assembly.retrieval.neighbours}

    def of(self, rule: SectionRule, item: Item, fragment: Fragment) -> str:
        """Why this part of an item stands in this section."""
        match rule.source:
            case "trigger":
                return self._current(fragment.breadcrumb)
            case "pinned":
                return self._pinned(rule, fragment.breadcrumb)
            case "memory":
                return self._remembered(fragment.breadcrumb)
            case "window":
                return self._of_conversation()
            case "retrieval":
                return self._reason_of_find(item, fragment)
            case source:
                return FIXED.get(source, f"collected by {source}")

    def _current(self, crumb: Breadcrumb) -> str:
        is_trigger = crumb.id == self._assembly.front.recall.trigger.id
        return "the message to answer" if is_trigger else "part of the tool calls to answer from"

    def _of_conversation(self) -> str:
        front = self._assembly.front
        if not front.conversation.whole:
            return "the newest part of the conversation"
        return (
            "what the profile's `window` leaves of the conversation" if front.limits.left_out else "the conversation, which fits"
        )

    def _remembered(self, crumb: Breadcrumb) -> str:
        of_session = f"session {crumb.session} of {self._assembly.front.recall.scope.user}"
        return f"a summary of {of_session}" if crumb.schema == SUMMARY else f"said in {of_session}"

    def _pinned(self, rule: SectionRule, crumb: Breadcrumb) -> str:
        recall = self._assembly.front.recall
        own = {row.breadcrumb.id for row in section_rows(recall.profile, recall.pinned, rule)}
        kinds = zip(recall.profile.pinned, recall.pinned, strict=True)
        of_crumb = (kind for kind, rows in kinds if crumb.id in own & {row.breadcrumb.id for row in rows})
        return f"pinned: {_kind(next(of_crumb))}"

    def _reason_of_find(self, item: Item, fragment: Fragment) -> str:
        view = self._assembly.front.recall.view
        if fragment.breadcrumb.id != view.breadcrumb(item.origin).id:
            is_call = fragment is item.fragments[0]
            result_id = view.breadcrumb(item.origin).id
            return f"the call that led to {result_id}, which was found" if is_call else "a note on the other calls of that step"
        finds = self._finds.get(item.origin, [])
        reply_to = next((find.reply_to for find in finds if find.reply_to >= 0), -1)
        if reply_to >= 0:
            return f"what was said in reply to {view.breadcrumb(reply_to).id}, which was found"
        if item.origin in self._neighbours and all(find in self._assembly.retrieval.neighbours for find in finds):
            return "said next to what was found"
        times = max((find.times for find in finds), default=1)
        return "found" if times == 1 else f"found; the same was said {times} times, this is the last"


def _kind(kind: Pinned) -> str:
    """What a profile pins, e.g. "the latest tool.catalog.v1"."""
    selector = kind.selector
    conditions = {
        "": selector.schemas,
        "id ": selector.ids,
        "any tag of ": selector.any_tags,
        "all tags of ": selector.all_tags,
        "no tag of ": selector.none_tags,
    }
    words = "; ".join(f"{name}{', '.join(values)}" for name, values in conditions.items() if values)
    number = kind.keep if isinstance(kind.keep, str) else f"the newest {kind.keep}"
    return f"{'the latest' if number == 'latest' else number} {'' if selector.schemas else 'with '}{words}"
