"""The version of netlab, in one place."""

VERSION = "0.1.0"
