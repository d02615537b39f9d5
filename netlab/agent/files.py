"""Names of the files through which an engine and its agent talk, all in one folder."""

PLAN = "plan.json"
EVENTS = "events.jsonl"
RESULT = "result.json"
CRASH = "crash.txt"
BOOT = "boot.json"
ARTIFACTS = "artifacts"
CAPTURES = "captures"
