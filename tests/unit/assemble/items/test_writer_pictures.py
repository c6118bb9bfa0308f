"""Pictures go with what is more than a line of ours."""

from builder.assemble.items.forms import RenderForm
from builder.assemble.items.writer import shows_pictures
from builder.domain.context import Fragment
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered
from tests.pages import make_writer

LONG = " ".join(f"Sentence {n} of a long letter." for n in range(50))


def fragment(row: StoredBreadcrumb, form: RenderForm = RenderForm(), cap: int | None = None) -> Fragment:  # noqa: B008 - frozen
    writer = make_writer([row])
    return writer.fragment(row.breadcrumb, form, cap)


def test_pictures_go_with_everything_but_a_single_line() -> None:
    row = answered(2, "r1", LONG)
    assert shows_pictures(fragment(row, RenderForm(answer=True)))
    assert shows_pictures(fragment(row, RenderForm(answer=True), 60))
    assert not shows_pictures(fragment(row, RenderForm(answer=True, line="folded")))
