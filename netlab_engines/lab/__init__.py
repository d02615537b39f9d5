"""A live network, which runs commands and traffic on request, and Mininet scripts, in an engine."""
