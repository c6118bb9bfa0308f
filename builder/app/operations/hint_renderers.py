"""The bundled hints, ready to be timed."""

from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.trial import HintRenderers, hint_renderers
from builder.app.config import read_layers
from builder.app.resources import bundled_folder


def bundled_renderers() -> tuple[HintRenderers, ...]:
    """Every bundled hint on each of its examples, in the sandbox and by Jinja alone."""
    return tuple(hint_renderers(TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))))
