"""What is wrong with templates alone, and what each of their lines costs."""

from builder.adapters.templates.folder import GENERIC, SUFFIX, TemplateSet, templates_of
from builder.adapters.templates.lint import LineCost, line_costs
from builder.adapters.tokens import load_counter
from builder.app.config import read_layers, template_folders
from builder.app.operations.profile_catalog import lint_folders
from builder.app.operations.template_cases import case_bodies
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding
from builder.domain.nearest import advice

KINDS = ("hints/", "pages/")
ENCODING = "o200k_base"


def template_findings(settings: Settings, names: tuple[str, ...] = ()) -> tuple[LintFinding, ...]:
    """Of hints and pages. names: only of these hints; none = all. Raises `Misconfigured` for an unknown name."""
    _check(settings, names)
    files = {f"hints/{name}{SUFFIX}" for name in names}
    _, findings = lint_folders(settings)
    return tuple(each for each in findings if each.file.startswith(KINDS) and (not names or each.file in files))


def template_costs(settings: Settings, names: tuple[str, ...] = ()) -> tuple[LineCost, ...]:
    """Of these hints, or of all. Raises `Misconfigured` for an unknown name, and for templates that cannot be used."""
    _check(settings, names)
    folders = template_folders(settings)
    templates, count = TemplateSet(*templates_of(read_layers(folders))), load_counter(ENCODING)
    bodies = case_bodies(folders[-1])
    costs = (line_costs(templates, name, count, bodies.get(name, ())) for name in names or sorted(templates.sources["hints"]))
    return tuple(sorted((cost for each in costs for cost in each), key=lambda cost: -cost.tokens))


def _check(settings: Settings, names: tuple[str, ...]) -> None:
    hints, _, _ = templates_of(read_layers(template_folders(settings)))
    for name in names:
        if name not in hints:
            raise Misconfigured(f"there is no hint {name!r}; {advice(name, hints.keys() - {GENERIC})}")
