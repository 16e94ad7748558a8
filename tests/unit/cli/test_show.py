"""What --watch says of a step."""

from typing import Any, get_args

import pytest

from kgqa.cli.show_record import DECISION_COLOURS, show_step
from kgqa.runtime.state import Decision

ENTRIES: list[tuple[dict[str, Any], str]] = [
    ({"node": "plan", "subgoals": ["Find A.", "Find B."]}, "1. Find A. 2. Find B."),
    (
        {
            "node": "blueprint",
            "source": "adapted",
            "similarity": 0.809,
            "anchor": "who is [ENT]?",
            "blueprint": "directed & ^music",
            "dropped": ["shot"],
        },
        "adapted · similarity 0.81 · directed & ^music · not in the graph: shot",
    ),
    (
        {"node": "blueprint", "source": "none", "similarity": None, "anchor": None, "blueprint": None},
        "no blueprint",
    ),
    (
        {"node": "rerank", "chain": "Ulm", "subgoal": "Find A.", "slot": "river", "best": ["-river-> 0.912"]},
        "Ulm · slot river · best -river-> 0.912",
    ),
    ({"node": "rerank", "chain": "Ulm", "slot": None, "best": []}, "Ulm"),
    (
        {
            "node": "prune",
            "chain": "Ulm",
            "reason": "rivers",
            "chosen": ["-mayor->", "-river->"],
            "added": ["-river->"],
            "set_aside": 3,
        },
        "Ulm · chose -mayor-> -river-> · added by the blueprint -river-> · rivers",
    ),
    ({"node": "prune", "chain": "Ulm", "chosen": [], "added": []}, "Ulm"),
    ({"node": "expand", "chain": "Ulm -river->", "ends": 1, "candidates": 1}, "Ulm -river-> · 1 candidate"),
    (
        {
            "node": "verify",
            "chain": "Ulm -school->",
            "reason": "one is a college",
            "finding": "She went to it.",
            "kept": ["A", "B"],
            "reached": ["A", "B", "C"],
            "total": 3,
        },
        "Ulm -school-> · kept A, B · She went to it. · one is a college",
    ),
    ({"node": "verify", "chain": "Ulm", "signal": "wrong_type", "reason": ""}, "Ulm · failure: wrong type"),
    (
        {"node": "filter", "chain": "Ulm -school->", "candidates": 9, "kept": 0},
        "Ulm -school-> · 9 candidates · 0 kept",
    ),
    (
        {
            "node": "diagnose",
            "chain": "Ulm -mayor->",
            "signal": "no_gain",
            "step": 1,
            "blueprint": "drop",
            "reason": "no river",
            "recalled": ["Ulm -river->", "Ulm -sea->"],
        },
        "Ulm -mayor-> · failure: no gain · to blame: decision 1 · recalled Ulm -river->, Ulm -sea-> · "
        "blueprint dropped · no river",
    ),
    (
        {
            "node": "diagnose",
            "chain": "Ulm",
            "signal": "no_gain",
            "step": 0,
            "blueprint": "keep",
            "reason": "",
        },
        "Ulm · failure: no gain · no decision is to blame",
    ),
    ({"node": "infer", "chosen": 2, "reason": "the facts carry them"}, "2 chosen · the facts carry them"),
    ({"node": "infer", "chosen": 0, "reason": "nothing carries it"}, "0 chosen · nothing carries it"),
    ({"node": "learn", "blueprint": "river"}, "river"),
    (
        {"node": "exemplars", "solved": 3, "questions": ["?"] * 3, "similarities": [0.9] * 3},
        "3 solved questions",
    ),
    (
        {"node": "smart_lookahead", "fired": True, "forward": ["river"], "chains": ["A -b->"], "realised": 1},
        "fired · A -b->",
    ),
    ({"node": "smart_lookahead", "fired": False, "forward": [], "chains": [], "realised": 0}, "did not fire"),
    (
        {
            "node": "sample",
            "samples": [
                *[{"reasoning": "so", "answers": ["A"]}] * 2,
                {"reasoning": "", "answers": []},
            ],
        },
        "so · answer A · 2 times; no answer",
    ),
    (
        {"node": "answer", "alternatives": "left out: the graph is slow"},
        "other readings left out: the graph is slow",
    ),
    ({"node": "link", "translated": "Who wrote Faust?"}, 'translated: "Who wrote Faust?"'),
    ({"node": "verify", "chain": "Ulm", "failure": "MalformedReply", "error": "no JSON"}, "Ulm · no JSON"),
]


@pytest.mark.parametrize(("entry", "said"), ENTRIES)
def test_a_step_is_one_line(entry: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_step({"decision": "forward", **entry}, to_stderr=False)
    assert capsys.readouterr().out == f"{entry['node']:<19}forward   {said}\n"


def test_every_decision_has_a_colour() -> None:
    assert set(get_args(Decision)) <= DECISION_COLOURS.keys()


def test_what_a_model_says_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said = "Find\x1b[2J\na\u202e river."
    show_step({"node": "plan", "decision": "forward", "subgoals": [said]}, to_stderr=False)
    out = capsys.readouterr().out
    assert out.endswith("1. Find [2J a river.\n")
    assert out.count("\n") == 1
