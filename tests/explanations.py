"""Pages of tests with their explanations."""

from collections.abc import Iterable

from builder.assemble.assemble import context_of
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.extras.explain.explanation import PageExplanation
from tests.factories import MODEL, make_assembly


def make_explanation(
    trigger: StoredBreadcrumb,
    rows: Iterable[StoredBreadcrumb | str],
    profile: Profile | None = None,
    standing: tuple[StoredBreadcrumb, ...] = (),
) -> tuple[Context, PageExplanation]:
    """The page for a trigger after these rows, and its explanation."""
    assembly = make_assembly(trigger, rows, profile, standing)
    return context_of(assembly, MODEL), PageExplanation(assembly)
