"""``kgqa prompts``, and ``--prompts`` of the commands that ask."""

import json
from pathlib import Path

from typer.testing import CliRunner

from kgqa.cli.main import app
from kgqa.runtime.wordings import own_wordings

ASK = ("ask", "What is the capital of Peru?", "--kg", "sample", "--model", "offline")


def test_export_writes_our_own_words(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    ended = CliRunner().invoke(app, ["prompts", "export", str(folder)])
    assert (ended.exit_code, ended.stdout) == (
        0,
        f"{len(own_wordings())} prompts in {folder}; ask with: --prompts {folder}\n",
    )
    again = CliRunner().invoke(app, ["prompts", "export", str(folder)])
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"kgqa: {folder} is there already; name a new folder\n"


def test_a_question_is_asked_in_the_words_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "verify_chain.txt").write_text("Is it so?")
    ended = CliRunner().invoke(app, [*ASK, "--prompts", str(tmp_path), "--format", "json"])
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["config"]["prompts"] == str(tmp_path)


def test_bad_words_are_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "verify.txt").write_text("Is it so?")
    for command in (ASK, ("eval", "--dataset", "sample", "--limit", "1", "--out", str(tmp_path / "run"))):
        ended = CliRunner().invoke(app, [*command, "--prompts", str(tmp_path)])
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr.startswith(
            f"kgqa: {tmp_path}/verify.txt: no prompt is called 'verify'; there are: "
        )
        assert ended.stderr.count("\n") == 1
