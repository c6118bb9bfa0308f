"""Why a page looks as it does: published contexts built again and accounted for; what they cost."""

from collections.abc import Mapping

from builder.extra import Commands, Extra, Request


def _requests() -> Mapping[str, Request]:
    from builder.extras.explain.requests import REQUESTS

    return REQUESTS


def _commands() -> Commands:
    from builder.extras.explain import commands

    return {"explain": commands.explain, "why": commands.why, "replay": commands.replay, "cost": commands.cost}


extra = Extra(requests=_requests, commands=_commands)
