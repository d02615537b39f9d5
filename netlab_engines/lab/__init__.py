"""A live network: it is built, waits, and does what it is told."""
