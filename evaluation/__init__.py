"""Datasets, metrics, runs, simulation, reports: where a result can be believed."""
