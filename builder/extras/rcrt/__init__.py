"""The bridge to a deployment of RCRT, and the Handlebars templates of its records, written in Jinja2."""

from builder.extra import Extra
from builder.extras.rcrt.command import convert, rcrt

extra = Extra(
    commands={"rcrt": rcrt},
    groups={"hints": ("Hints that records bring (llm_hints).", {"convert": convert})},
)
