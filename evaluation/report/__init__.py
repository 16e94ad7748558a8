"""The report: one page with what some runs have measured, question by question."""
