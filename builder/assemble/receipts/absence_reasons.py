"""Why one breadcrumb that was recalled is not on the page."""

from builder.assemble.assemble import Assembly
from builder.assemble.page.accounts import rows_of_calls
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import OLDER
from builder.domain.profile import Profile
from builder.recall.index.view import View

OTHERWISE = "the page has no section for it"


def reason_of_row(assembly: Assembly, row: int) -> str:
    """The reason by which the account counts it, and why it could not be found."""
    recall = assembly.draft.recall
    crumb = recall.view.breadcrumb(row)
    if not recall.view.current[row]:
        return _hidden(crumb, row, assembly)
    reason = next((reason for reason, rows in assembly.absence.rows.items() if row in rows), "")
    if reason and reason != OLDER:
        return reason
    if row in rows_of_calls(assembly.draft.ledger):
        return "its call is on the page with the message that made it"
    if row in assembly.draft.verbatim:
        return "the summary on the page says all of it"
    unsearched = _not_searched(crumb, row, recall.view, recall.profile, is_small_talk=assembly.draft.query.is_small_talk)
    return "; ".join(filter(None, (reason, unsearched))) or OTHERWISE


def _hidden(crumb: Breadcrumb, row: int, assembly: Assembly) -> str:
    """Why the consumer may not see it."""
    recall = assembly.draft.recall
    profile, view, trigger = recall.profile, recall.view, recall.trigger
    if not view.prefix.latest[row]:
        return "it was replaced by a later version, or deleted"
    if crumb.expires_at is not None and crumb.expires_at <= trigger.received_at:
        return f"it had expired at {crumb.expires_at:%Y-%m-%d %H:%M}Z"
    if profile.audience is not None and not profile.audience.matches(crumb):
        return f"the audience of profile {profile.consumer!r} does not match it"
    if profile.scope_to_task and crumb.task != trigger.task:
        return f"it belongs to {f'task {crumb.task!r}' if crumb.task else 'no task'}, the message to {trigger.task or 'none'!r}"
    if recall.scope.user and crumb.session != trigger.session:
        return f"it is no part of the memory of {recall.scope.user!r}"
    return (
        "it came after the message to answer, and belongs to a context of its own"
        if crumb.place > trigger.place
        else "the blacklist (context.blacklist.v1) excludes it, or a part of its tool exchange"
    )


def _not_searched(crumb: Breadcrumb, row: int, view: View, profile: Profile, *, is_small_talk: bool) -> str:
    """Why it could not be found; "" = it could."""
    rules = profile.retrieval
    reasons = (
        (profile.section("retrieval") is None, "the profile has no section for what is found"),
        (is_small_talk, "the message asks for nothing, so nothing was searched"),
        (crumb.schema not in rules.schemas, f"the profile searches {', '.join(rules.schemas) or 'nothing'}, not {crumb.schema}"),
        (not crumb.text.strip(), "it has no words to find"),
        (bool(view.column(view.history.breadcrumbs.filler)[row]), "it is small talk, which holds nothing to find"),
        (rules.people == "named" and crumb.role == "user", "the message does not name its speaker, as the profile asks"),
        (rules.similarity_threshold > 0, f"its similarity is below the threshold of {rules.similarity_threshold}"),
    )
    return next((reason for applies, reason in reasons if applies), "")
