"""Profiles and templates that were in force together."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """Files of one moment, kept so that contexts can be rebuilt."""

    templates: str
    profiles: Mapping[str, str]
    """Consumer → revision of its profile, as contexts name it."""
    layers: tuple[Mapping[str, str], ...]
    """Path → text, the bundled files first."""

    @property
    def id(self) -> str:
        """Hash of the files."""
        digest = blake2b(digest_size=16)
        for layer in self.layers:
            for path, text in sorted(layer.items()):
                digest.update(f"{path}\0{text}\0".encode())
            digest.update(b"\1")
        return digest.hexdigest()
