"""What an operator writes is read up to a size and without aliases, and refused in one line."""

from pathlib import Path
from time import thread_time

import pytest

from builder.adapters.templates.failures import silence
from builder.app.config import read_config, template_folders
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from tests.hostile import YAMLS

LONGEST, SECONDS = 2_100, 10.0


@pytest.mark.parametrize("file", ["profiles/mine.yaml", "presets/mine.yaml", "models.yaml"])
@pytest.mark.parametrize("name", YAMLS)
def test_yaml_that_is_more_than_it_looks_is_refused_in_one_line(tmp_path: Path, file: str, name: str) -> None:
    for kind in ("profiles", "presets"):
        (tmp_path / kind).mkdir()
    (tmp_path / "profiles/other.yaml").write_text("extends: mine\n" if file.startswith("presets") else "extends: default\n")
    (tmp_path / file).write_text(YAMLS[name])
    began = thread_time()
    with pytest.raises(Misconfigured) as caught:
        read_config(template_folders(Settings(templates_dir=tmp_path)))
    message = str(caught.value)
    assert thread_time() - began < SECONDS
    assert ("\n" in message, len(message) < LONGEST) == (False, True)
    assert message.startswith(("profiles/", "presets/", "models.yaml", str(tmp_path)))


def test_whoever_reads_templates_again_goes_on_counting_what_they_could_not_render(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    folders = template_folders(Settings(templates_dir=tmp_path))
    first = read_config(folders, None, silence)
    (tmp_path / "profiles/mine.yaml").write_text("extends: default\n")
    assert read_config(folders, first, silence).failures is first.failures
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints/note.v1.md.j2").write_text("Noted: {{ text }}")
    assert read_config(folders, first, silence).failures is not first.failures
