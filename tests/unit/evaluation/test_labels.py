"""What metrics are called, however deep they stand."""

from kgqa.evaluation.scoring.run_metrics import labelled_shares

HALF = {"value": 0.5, "low": 0.4, "high": 0.6}
NONE = {"value": None, "low": None, "high": None}


def test_shares_are_found_in_their_groups_and_left_out_where_there_are_none() -> None:
    metrics = {
        "hits_at_1": HALF,
        "f1": NONE,
        "refinement": {"rate": HALF, "recovered": NONE},
        "blueprints": None,
    }
    found = {"Hits@1": HALF, "F1": NONE, "refined": HALF, "re-routed, recovered": NONE}
    assert dict(labelled_shares(metrics)) == found
