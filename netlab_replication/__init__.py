"""Measurements of every published number that the chapters cover: `rows.replicate` makes them, `report` writes them,
`labs` defines them.
"""
