"""Runs the nodes of a method: context, resources, state, budget, record."""
