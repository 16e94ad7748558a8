"""What the papers read out of their runs: refinement, revision, lookahead, thresholds, intermediate nodes."""
