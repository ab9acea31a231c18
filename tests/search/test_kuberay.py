"""What deploy/kuberay.yaml promises, as far as it can be read: rights, limits, and a command that exists."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from orienteer.cli.main import cli

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCUMENTS = list(yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text()))
(JOB,) = [one["spec"] for one in DOCUMENTS if one["kind"] == "RayJob"]
CLUSTER = JOB["rayClusterSpec"]


GROUPS = (CLUSTER["headGroupSpec"], *CLUSTER["workerGroupSpecs"])
PODS = [JOB["submitterPodTemplate"]["spec"], *(group["template"]["spec"] for group in GROUPS)]


@pytest.mark.parametrize("pod", PODS, ids=lambda pod: pod["containers"][0]["name"])
def test_no_pod_has_more_rights_than_it_needs(pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] >= 1000
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]
    for kind in ("requests", "limits"):
        assert container["resources"][kind].keys() == {"cpu", "memory"}


@pytest.mark.parametrize("pod", PODS, ids=lambda pod: pod["containers"][0]["name"])
def test_mounted_volumes_are_there(pod: dict[str, Any]) -> None:
    claims = [one["metadata"]["name"] for one in DOCUMENTS if one["kind"] == "PersistentVolumeClaim"]
    volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
    assert {mount["name"] for mount in pod["containers"][0].get("volumeMounts", ())} == volumes.keys()
    for volume in volumes.values():
        assert "emptyDir" in volume or volume["persistentVolumeClaim"]["claimName"] in claims


def test_the_command_is_understood_and_its_files_are_on_the_volume() -> None:
    program, name, *words = shlex.split(JOB["entrypoint"])
    assert program == "orienteer"
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    with click.Context(command) as context:
        command.parse_args(context, list(words))
        asked = context.params
    assert asked["engine"] == "ray"
    (data,) = [
        mount["mountPath"]
        for mount in CLUSTER["headGroupSpec"]["template"]["spec"]["containers"][0]["volumeMounts"]
        if mount["name"] == "data"
    ]
    assert asked["file"].startswith(f"{data}/")
    assert asked["out"].startswith(f"{data}/")


def test_ray_has_one_version() -> None:
    """Ray refuses machines of other versions; the package must allow the image's."""
    image = re.search(r"^FROM rayproject/ray:([0-9.]+)-py", (DEPLOY / "Dockerfile.ray").read_text(), re.MULTILINE)
    assert image is not None
    assert CLUSTER["rayVersion"] == image[1]
    allowed = re.search(r'"ray>=([0-9.]+),<([0-9]+)"', (ROOT / "pyproject.toml").read_text())
    assert allowed is not None
    version = [int(number) for number in image[1].split(".")]
    assert [int(number) for number in allowed[1].split(".")] <= version < [int(allowed[2])]


def test_the_image_is_not_root() -> None:
    lines = (DEPLOY / "Dockerfile.ray").read_text().splitlines()
    assert lines[-1] == "USER 1000"
