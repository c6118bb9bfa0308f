"""The bundled hints, ready to be timed."""

from builder.adapters.templates.folder import TemplateSet, read_folders
from builder.adapters.templates.renderers import HintRenderers, hint_renderers
from builder.app.resources import bundled_folder


def bundled_renderers() -> tuple[HintRenderers, ...]:
    """Every bundled hint on each of its examples, in the sandbox and by Jinja alone."""
    return tuple(hint_renderers(TemplateSet(*read_folders((bundled_folder("templates"),)))))
