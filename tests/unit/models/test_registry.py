import subprocess
import sys

import pytest

from kgqa.models.errors import UnknownModel
from kgqa.models.registry import default_spec, open_model
from kgqa.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("variables", "spec"),
    [
        ({}, "offline"),
        ({"OPENAI_API_KEY": ""}, "offline"),
        ({"OPENAI_API_KEY": "x"}, "openai:gpt-4.1-mini"),
        ({"KGQA_MODEL": "groq:x", "OPENAI_API_KEY": "x"}, "groq:x"),
        ({"KGQA_MODEL": "offline", "OPENAI_API_KEY": "x"}, "offline"),
    ],
)
def test_default_spec(monkeypatch, variables, spec):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_spec() == spec


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini"),
        ("gpt-4.1-mini", "openai:gpt-4.1-mini"),
        (" gpt-5 ", "openai:gpt-5"),
        ("openai:org/model:8b", "openai:org/model:8b"),
    ],
)
def test_opens_chat_models(monkeypatch, spec, name):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert open_model(spec).name == name


def test_opens_the_offline_model():
    specs = []

    def make(spec):
        specs.append(spec)
        return ScriptedModel([])

    assert open_model(" offline:without=words ", offline=make).name == "scripted"
    assert specs == ["offline:without=words"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "names no model"),
        (":", "names no model"),
        ("openai:", "names no model"),
        ("scripted", "kgqa.models.scripted.ScriptedModel"),
        ("scripted:x", "kgqa.models.scripted.ScriptedModel"),
        ("offline", "offline needs a graph"),
        ("nobody:model", "no provider is called 'nobody'"),
        ("llama3:8b", "no provider is called 'llama3'"),
        ("anthropic:claude", "langchain-anthropic"),
        ("openai:gpt-4.1-mini", "set OPENAI_API_KEY"),
        ("gpt-4.1-mini", "set OPENAI_API_KEY"),
    ],
)
def test_refuses_in_one_line(spec, words):
    with pytest.raises(UnknownModel) as caught:
        open_model(spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_a_server_of_ones_own_needs_no_key(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:9/v1")
    assert open_model("openai:local")._clients.url == "http://127.0.0.1:9/v1/"


async def test_the_environment_names_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("KGQA_CACHE", str(tmp_path / "cache"))
    open_model("openai:x")
    assert (tmp_path / "cache").exists()
    (tmp_path / "cache").unlink()
    open_model("openai:x", cache=tmp_path / "other")
    assert not (tmp_path / "cache").exists() and (tmp_path / "other").exists()


def test_importing_costs_next_to_nothing():
    code = """
import sys, time, pydantic, asyncio
from pydantic import BaseModel, Field
class Warm(BaseModel):
    x: int = Field(default=1)
started = time.process_time()
import kgqa.models.registry
seconds = time.process_time() - started
heavy = {"numpy", "langchain", "langchain_core", "openai", "torch", "tenacity"} & set(sys.modules)
assert not heavy, heavy
assert seconds < 0.05, seconds
"""
    subprocess.run([sys.executable, "-c", code], check=True)
