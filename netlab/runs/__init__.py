"""Scenarios, runs, sweeps and kept results."""
