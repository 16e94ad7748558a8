import pytest

from kgqa.priors.encoder import open_encoder


@pytest.fixture(scope="session")
def minilm():
    return open_encoder()


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
