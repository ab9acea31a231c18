"""What deploy/ promises, as far as it can be read from its files."""

import re
from pathlib import Path

import yaml

from orienteer.cli.serve import serve
from orienteer.service.settings import TOKEN, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OPTIONS = {option.envvar for option in serve.params} | {TOKEN}


def lines(path: Path) -> set[str]:
    return set(path.read_text().split("\n"))


def test_the_image_has_what_its_variables_name() -> None:
    """The last stage begins with an empty folder: packages and kernels must be copied to where they were made."""
    *_, packages, last = (DEPLOY / "Dockerfile").read_text().split("\nFROM ")
    copied = re.findall(r"^COPY --from=packages (/\S+) (/\S+)$", last, re.MULTILINE)
    assert copied
    assert all(source == target for source, target in copied)
    named = re.findall(r"(?:PATH|ORIENTEER_CACHE)=(/[^:\s]+)", last)
    assert len(named) == 2
    for path in named:
        assert any(path.startswith(f"{target}/") for _, target in copied), path
        assert path.removesuffix("/bin") in packages, path


def test_the_token_is_in_a_folder_of_its_own_and_goes_nowhere() -> None:
    """The folder's mode protects the token, since the image's user must be able to read the file."""
    compose = (DEPLOY / "compose.yaml").read_text()
    [path] = re.findall(r"file: \./(\S+)$", compose, re.MULTILINE)
    folder = f"deploy/{Path(path).parent}"
    assert folder != "deploy/."
    assert f"install -d -m 700 {folder}" in compose
    assert f"chmod 644 deploy/{path}" in compose
    assert f"/{folder}" in lines(ROOT / ".gitignore")
    assert folder in lines(DEPLOY / "Dockerfile.dockerignore")


def test_servers_that_share_jobs_have_their_secrets_from_files() -> None:
    compose = yaml.safe_load((DEPLOY / "compose-shared.yaml").read_text())
    servers = [compose["services"][name] for name in ("a", "b")]
    for server in servers:
        assert set(server["environment"]) <= OPTIONS
        assert {server["environment"][f"ORIENTEER_{name}_FILE"] for name in ("TOKEN", "JOBS")} == {
            f"/run/secrets/{name}" for name in server["secrets"]
        }
        assert server["read_only"]
        assert server["cap_drop"] == ["ALL"]
        assert "ports" not in server  # the proxy alone is reached from outside
        address = compose["services"]["proxy"]["networks"]["inside"]["ipv4_address"]
        assert server["environment"]["ORIENTEER_PROXIES"] == address
    used = {name for service in compose["services"].values() for name in service.get("secrets", ())}
    assert set(compose["secrets"]) == used
    assert all(secret["file"].startswith("./secret/") for secret in compose["secrets"].values())
    assert all(port.startswith("127.0.0.1:") for port in compose["services"]["proxy"]["ports"])
    proxy = (DEPLOY / "nginx-shared.conf").read_text()
    assert re.findall(r"^    server (\w+):8000;$", proxy, re.MULTILINE) == ["a", "b"]
    assert "proxy_buffering off;" in proxy


def test_pods_have_few_rights_and_secrets_by_reference() -> None:
    deployment, service, budget = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    labels = deployment["spec"]["selector"]["matchLabels"]
    pod = deployment["spec"]["template"]
    assert (
        labels == pod["metadata"]["labels"] == service["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"]
    )
    pod = pod["spec"]
    (container,) = pod["containers"]
    values = {one["name"]: one["value"] for one in container["env"]}
    assert set(values) <= OPTIONS
    (folder,) = (one["mountPath"] for one in container["volumeMounts"] if one["name"] == "secrets")
    assert {values[f"ORIENTEER_{name}_FILE"] for name in ("TOKEN", "JOBS")} == {f"{folder}/token", f"{folder}/jobs"}
    assert pod["volumes"][0]["secret"]["secretName"] == "orienteer"
    assert pod["securityContext"]["runAsNonRoot"]
    (user,) = re.findall(r"--uid (\d+)", (DEPLOY / "Dockerfile").read_text())
    assert pod["securityContext"]["runAsUser"] == int(user)
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not pod["automountServiceAccountToken"]
    assert not pod["enableServiceLinks"]  # they are variables like ORIENTEER_PORT=tcp://...
    assert pod["terminationGracePeriodSeconds"] > Settings().drain_seconds
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    (port,) = container["ports"]
    assert (port["name"], port["containerPort"]) == (service["spec"]["ports"][0]["targetPort"], Settings().port)
    assert "postgresql://" not in str(deployment)
