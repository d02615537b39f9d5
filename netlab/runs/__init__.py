"""Scenarios, runs, sweeps and the cache of results."""
