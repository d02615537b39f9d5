"""Commands of this package, each with its line of help and its module."""

COMMANDS = {
    "demo": ("run a first experiment and compare it with theory", "netlab_course.demo_command"),
    "lab": ("open your copies of the chapters in JupyterLab", "netlab_course.lab_command"),
    "progress": ("say what there is to learn and what you have passed", "netlab_course.progress_command"),
    "reset": ("replace your copy of a chapter by a fresh one and keep yours next to it", "netlab_course.reset_command"),
    "pdf": ("write a notebook with its figures as pages for paper", "netlab_course.pdf_command"),
    "new-chapter": ("write the skeleton of a chapter, which runs as it is", "netlab_course.new_chapter.command"),
}
