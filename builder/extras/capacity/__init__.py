"""What an installation of given numbers needs."""

from builder.extra import Commands, Extra


def _commands() -> Commands:
    from builder.extras.capacity.command import plan

    return {"plan": plan}


extra = Extra(commands=_commands)
