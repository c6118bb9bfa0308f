"""An operator's folder of templates."""

from collections.abc import Mapping
from pathlib import Path


def with_profiles(folder: Path, profiles: Mapping[str, str]) -> Path:
    """The templates below this folder, with these profiles: name → text."""
    for name, text in profiles.items():
        file = folder / "templates" / "profiles" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder / "templates"
