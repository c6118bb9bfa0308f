"""The sample conversation, and the command that plays it on a service of its own."""

from builder.extra import Commands, Extra


def _commands() -> Commands:
    from builder.extras.demo.command import demo

    return {"demo": demo}


extra = Extra(commands=_commands)
