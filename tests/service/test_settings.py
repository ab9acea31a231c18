"""Settings: options, variables, the secret, and who can reach the service."""

import dataclasses
from pathlib import Path

import pytest

from command_line import Cli
from orienteer.cli.serve import serve
from orienteer.service.settings import Settings, check_reach, is_loopback, read_token


def test_every_setting_is_an_option_and_a_variable() -> None:
    known = {option.name: option for option in serve.params}
    for one in dataclasses.fields(Settings):
        if one.name == "token":
            assert "token" not in known  # command lines can be read by others
            continue
        option = known[one.name]
        assert option.opts == [f"--{one.name.replace('_', '-')}"]
        assert option.envvar == f"ORIENTEER_{one.name.upper()}"  # type: ignore[attr-defined]
        assert option.default == one.default
        assert one.metadata["text"].endswith((".", "png."))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"places": 0}, "--places must be at least 1, got 0"),
        ({"workers": -1}, "--workers must be at least 0, got -1"),
        ({"solve_most": float("nan")}, "--solve-most must be a number from 0, got nan"),
        ({"keep_seconds": -1.0}, "--keep-seconds must be a number from 0, got -1.0"),
        ({"lease_seconds": 0.0}, "--lease-seconds must be at least 0.1, got 0"),
        ({"jobs": "mysql://me:secret@host/jobs"}, "--jobs must be an address that begins with postgresql:// or"),
        ({"batching": "maybe"}, "--batching must be auto, on or off, got 'maybe'"),
        ({"name": "a/b"}, "--name must be letters and digits, got 'a/b'"),
        ({"token": "short"}, "at least 16 characters, got 5"),
    ],
)
def test_bad_settings_are_told(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        Settings(**change)  # type: ignore[arg-type]


def test_the_secret_is_neither_shown_nor_sent_to_workers() -> None:
    settings = Settings(token="correct-horse-battery")
    assert "correct-horse" not in repr(settings)
    assert settings.public.token == ""


def test_the_token_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(" of-the-file\n")
    assert read_token(str(tmp_path / "token")) == "of-the-file"
    monkeypatch.setenv("ORIENTEER_TOKEN", "of-the-environment")
    assert read_token("") == "of-the-environment"
    monkeypatch.delenv("ORIENTEER_TOKEN")
    assert read_token("") == ""


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.8.8.8", True), ("0.0.0.0", False), ("::", False)],
)
def test_other_machines_need_a_token(host: str, own: bool) -> None:
    assert is_loopback(host) == own
    if own:
        check_reach(Settings(host=host))
    else:
        with pytest.raises(ValueError, match="a token is needed"):
            check_reach(Settings(host=host))
    check_reach(Settings(host=host, token="correct-horse-battery"))


def test_the_command_refuses_before_it_serves(cli: Cli, tmp_path: Path) -> None:
    for options, words in (
        (("--host", "0.0.0.0"), "can be reached from other machines, so a token is needed"),
        (("--token-file", tmp_path / "none"), "No such file"),
        (("--queue", "0"), "--queue must be at least 1"),
        (("--solvers", "auto,os:system"), "--solvers must be of"),
    ):
        found = cli("serve", "--port", "0", "--store", tmp_path / "jobs", *options)
        assert found.status == 2
        assert words in found.err
        assert found.err.count("\n") == 1
