"""The directory with all reports of a grading."""

import json
import shutil
from pathlib import Path

from netlab_classroom.grading import result_store
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.report_pages import class_html, feedback_html, review_html
from netlab_classroom.grading.report_tables import (
    CANVAS,
    GRADES,
    MOODLE,
    UTF_8_MARK,
    canvas_csv,
    count_unreviewed,
    grades_csv,
    junit_xml,
    moodle_csv,
    review_csv,
    table_text,
)
from netlab_classroom.grading.text import file_name


def write(graded: GradedClass, output: Path, *, show_expected: bool = False, unreviewed: bool = False) -> None:
    """Write all reports of a graded class (tables, pages, students' pages in feedback, code in code) into the directory
    `output`, in place of earlier ones; the files for Moodle and Canvas only if no answer waits for review, or with
    `unreviewed`, and else earlier ones are removed. `show_expected` adds the right numbers to students' pages.
    """
    output.mkdir(parents=True, exist_ok=True)
    texts = {
        GRADES: grades_csv(graded),
        "junit.xml": junit_xml(graded),
        "flags.csv": UTF_8_MARK
        + table_text(
            ("students", "kind", "exercise", "sentence"),
            ([", ".join(flag["students"]), flag["kind"], flag["exercise"], flag["sentence"]] for flag in graded.flags),
        ),
        "review.csv": UTF_8_MARK + review_csv(graded),
        "review.html": review_html(graded),
        "class.html": class_html(graded, unreviewed=unreviewed),
        "manifest.json": json.dumps(graded.manifest, indent=1, sort_keys=True) + "\n",
    }
    if unreviewed or not count_unreviewed(graded):
        texts |= {MOODLE: moodle_csv(graded), CANVAS: canvas_csv(graded)}
    else:
        # Remove files of an earlier grading, which could be imported by mistake.
        for name in (MOODLE, CANVAS):
            (output / name).unlink(missing_ok=True)
    for name, text in texts.items():
        result_store.write_whole(output / name, text)
    pages = output / "feedback"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    for result in graded.results:
        result_store.write_whole(
            pages / f"{file_name(result['student'])}.html", feedback_html(graded, result, show_expected=show_expected)
        )
    _write_code(graded, output / "code")


def _write_code(graded: GradedClass, directory: Path) -> None:
    """Write the code of each answer that was attempted to `<exercise>/<student>.py` in the directory, in place of all
    its earlier files, for programs that look for copies.
    """
    shutil.rmtree(directory, ignore_errors=True)
    for result in graded.results:
        for key, answer in result["answers"].items():
            if answer["answer"]:  # neither words nor an answer that was not attempted
                (directory / key).mkdir(parents=True, exist_ok=True)
                result_store.write_whole(
                    directory / key / f"{file_name(result['student'])}.py", answer["source"] + "\n"
                )
