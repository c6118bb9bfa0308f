"""What authors of profiles and templates do: look, compare, check, try, and build a page of a file."""

from builder.extra import Extra
from builder.extras.workshop import commands

extra = Extra(
    commands={"build": commands.build, "consumers": commands.consumers},
    groups={
        "profiles": (
            "Profiles and presets: which settings apply, and what is wrong.",
            {
                "list": commands.list_profiles,
                "show": commands.show_profile,
                "diff": commands.diff,
                "lint": commands.lint,
            },
        ),
        "templates": (
            "Templates: test cases, a first hint for a schema, and what is wrong.",
            {"test": commands.run_cases, "new": commands.new, "lint": commands.lint_templates},
        ),
    },
)
