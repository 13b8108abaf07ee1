"""The files around the code: they parse, the version has one source, and the documented commands exist."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import franchise as fr

ROOT = Path(__file__).resolve().parents[1]
YAML = [
    *ROOT.glob(".github/**/*.yml"),
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"^ *```sh\n(.*?)^ *```$", CONTRIBUTING, re.MULTILINE | re.DOTALL))
COMMANDS = [shlex.split(line, comments=True) for line in BLOCKS.splitlines() if line.strip()]
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def parsed(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def release_check():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / ".github" / "check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_files_parse(path):
    assert isinstance(parsed(path), dict)


def test_the_version_has_one_source():
    assert "version" in PROJECT["project"]["dynamic"]
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "franchise.__version__"}
    assert release_check().version() == fr.__version__
    assert parsed("CITATION.cff")["version"] == fr.__version__
    studies = tomllib.loads((ROOT / "studies/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert studies["version"] == fr.__version__
    assert studies["dependencies"] == [f"franchise[plot]=={fr.__version__}"]


def test_a_release_that_disagrees_is_refused(monkeypatch):
    check = release_check()
    address = PROJECT["project"]["urls"]["Source"]
    assert [
        problem for problem in check.problems(f"v{fr.__version__}", address) if "CHANGELOG" not in problem
    ] == []
    assert len(check.problems("v0.0.0", "https://example.org/franchise")) >= 2
    monkeypatch.setattr(check, "version", lambda: "99.0.0")
    assert len(check.problems("v99.0.0", address)) == 3  # changelog, citation, studies


def test_all_addresses_are_in_one_repository():
    urls = PROJECT["project"]["urls"]
    assert set(urls) == {"Source", "Documentation", "Issues", "Changelog"}
    assert all(url.startswith(urls["Source"]) for url in urls.values())


def test_the_citation_has_what_the_schema_requires():
    citation = parsed("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["project"]["license"]
    assert {"message", "title", "authors"} <= set(citation)
    papers = re.sub(r"[*\s]+", " ", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")).lower()
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
        assert reference["title"].lower() in papers


def test_issue_forms():
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        form = parsed(path)
        if path.stem != "config":
            ids = [field["id"] for field in form["body"]]
            assert len(set(ids)) == len(ids) > 0
            assert form["name"]
            assert form["description"]
            assert all(field["attributes"]["label"] for field in form["body"])
    bug = {field["id"]: field for field in parsed(".github/ISSUE_TEMPLATE/bug.yml")["body"]}
    assert all(bug[name]["validations"]["required"] for name in ("version", "seed", "size"))


def test_workflows_and_hooks_use_the_supported_versions():
    tests = parsed(".github/workflows/tests.yml")["jobs"]["subset"]["strategy"]["matrix"]
    assert f">={tests['python'][0]}" == PROJECT["project"]["requires-python"]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    hooks = parsed(".pre-commit-config.yaml")["repos"][0]["hooks"]
    tools = {tool for hook in hooks for tool in hook.get("additional_dependencies", [])}
    assert {tool for tool in tools if tool.startswith("ruff")} <= set(constraints)


@pytest.mark.parametrize("name", ["tests", "nightly"])
def test_workflows_run_targets_that_exist(name):
    text = (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
    for targets in re.findall(r"run: make (.+)", text):
        assert set(targets.split()) <= set(TARGETS)
    for script in re.findall(r"run: (\.\S+)", text):
        assert (ROOT / script).exists()


def test_every_path_of_the_subset_exists():
    paths = (ROOT / "tests/subset.txt").read_text(encoding="utf-8").split()
    assert paths
    assert all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_of_the_contributing_page_exist(command):
    if command[0] == "make":
        assert set(command[1:]) <= set(TARGETS)
    elif command[1] == "-c":
        assert set(re.findall(r"\bfr\.(\w+)", command[2])) <= set(fr.__all__)
    elif command[1] == "-m":
        assert importlib.util.find_spec(command[2]) or command[2] == "pip"
        assert all((ROOT / word).exists() for word in command[3:] if word.startswith("tests/"))
    else:
        assert command == [".venv/bin/pre-commit", "install"]


def test_files_that_the_contributing_page_names_exist():
    names = re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|pyi|md|toml|txt|yml|cff))`", CONTRIBUTING)
    places = [ROOT, ROOT / "src", ROOT / "src/franchise"]
    assert names
    assert [name for name in names if not any((place / name).exists() for place in places)] == []
