"""Names of the files in the folder that an engine and its agent share."""

CRASH = "crash.txt"
BOOT = "boot.json"
ARTIFACTS = "artifacts"
CAPTURES = "captures"
ENDING_FILE = "ending"
CHANNEL = "channel"
URGENT_FILE = "urgent"
