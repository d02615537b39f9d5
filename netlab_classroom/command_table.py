"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "assign": (
        "write a chapter's notebooks for a class, with numbers of each student's own",
        "netlab_classroom.grading.assign_command",
    ),
    "grade": ("grade a class's notebooks of one chapter in a sandbox", "netlab_classroom.grading.command"),
    "contest": (
        "let a class's congestion controls compete on networks that they have not seen",
        "netlab_classroom.contest.command",
    ),
}
