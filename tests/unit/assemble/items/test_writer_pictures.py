"""Pictures go with what is more than a line of ours."""

from builder.assemble.items.forms import RenderForm
from builder.assemble.items.writer import Item
from builder.domain.stored import StoredBreadcrumb
from tests.conversations import answered
from tests.pages import make_writer

LONG = " ".join(f"Sentence {n} of a long letter." for n in range(50))


def has_pictures(row: StoredBreadcrumb, form: RenderForm, cap: int | None = None) -> bool:
    writer = make_writer([row])
    return bool(Item(origin=0, fragments=(writer.fragment(row.breadcrumb, form, cap),)).pictured)


def test_pictures_go_with_everything_but_a_single_line() -> None:
    row = answered(2, "r1", LONG)
    assert has_pictures(row, RenderForm(answer=True))
    assert has_pictures(row, RenderForm(answer=True), 60)
    assert not has_pictures(row, RenderForm(answer=True, line="folded"))
