"""Names of the files through which an engine and its agent talk, all in one folder."""

CRASH = "crash.txt"
BOOT = "boot.json"
ARTIFACTS = "artifacts"
CAPTURES = "captures"
ENDING = "ending"
GATE = "gate"
URGENT = "urgent"
