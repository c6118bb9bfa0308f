"""The benchmark command about the sandbox of templates."""

from typing import Annotated

import typer

from builder.cli.bench_options import progress, report
from builder.cli.options import AsJson


def sandbox(
    rounds: Annotated[int, typer.Option(min=5, help="Renderings of each example.")] = 300,
    *,
    as_json: AsJson = False,
) -> None:
    """What the sandbox costs a fragment: every bundled hint on its examples, beside Jinja alone."""
    from builder.app.operations.hint_renderers import bundled_renderers
    from builder.bench.speed import sandbox as bench

    renderers = [(each.hint, each.sandboxed, each.bare) for each in bundled_renderers()]
    with progress("sandbox", len(renderers)) as step:
        figures = bench.run(renderers, rounds, step)
    totals = {name: value for name, value in figures.items() if name != "hints"}
    title = f"medians of {figures['rounds']} rounds, ms"
    report(figures, as_json, (title, "hint", figures["hints"]), ("all of them", "", {"": totals}))
