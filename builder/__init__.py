"""The context-builder: hears every breadcrumb and, when a user speaks, publishes the one context each agent needs.

Four verbs: remember, recall, assemble, publish. Read `service.py` first.
"""

__version__ = "0.1.0"
