"""What an installation of given numbers needs."""

from builder.extra import Extra
from builder.extras.capacity.command import plan

extra = Extra(commands={"plan": plan})
