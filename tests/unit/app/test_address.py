"""A running service is found by its data folder, and only while it runs."""

from pathlib import Path

from builder.app.address import FILE_NAME, announcement, running
from builder.app.settings import HttpSettings, NatsSettings, Settings


def make_settings(folder: Path, **nats: object) -> Settings:
    return Settings(data_dir=folder, nats=NatsSettings.model_validate(nats), http=HttpSettings(host="0.0.0.0"))  # noqa: S104


def test_a_service_is_found_while_it_runs_without_the_credentials_of_its_broker(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    with announcement(settings, "nats://ana:secret@10.0.0.7:4222", 8080):
        service = running(settings)
        assert service
        assert (service.nats, service.http) == ("nats://10.0.0.7:4222", "http://127.0.0.1:8080")
    assert running(settings) is None


def test_the_file_of_a_killed_service_is_no_service(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('{"nats": "nats://127.0.0.1:1", "http": "http://127.0.0.1:2", "pid": 3}')
    assert running(make_settings(tmp_path)) is None


def test_a_second_service_on_the_folder_leaves_the_file_of_the_first(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    with announcement(settings, "nats://127.0.0.1:1", 1):
        with announcement(settings, "nats://127.0.0.1:2", 2):
            pass
        service = running(settings)
        assert service
        assert service.nats == "nats://127.0.0.1:1"
