"""The button below a failed check that shows the next hint, and the call that shows it without a button.

The check's message also names the call that gives a hint, for notebooks without widgets.
"""

from __future__ import annotations

from typing import Protocol

from netlab_course.messages import as_html, display_module

LABEL = "Next hint"
CLASS = "netlab-hint"


class HintSource(Protocol):
    """The part of a check's interface that the button uses."""

    name: str

    @property
    def hints_left(self) -> int: ...  # noqa: D102 (`Check` has it)

    def next_hint(self) -> str: ...  # noqa: D102 (`Check` has it)


class HintGiver(Protocol):
    """The part of a check's interface that `Hint` uses."""

    @property
    def key(self) -> str: ...  # noqa: D102 (`Check` has it)

    def give_hint(self) -> None: ...  # noqa: D102 (`Check` has it)


class Hint:
    """A check's `hint`, which must be called to show a hint: its repr says how."""

    def __init__(self, check: HintGiver) -> None:
        """Store the check whose hints are shown."""
        self._check = check

    def __call__(self) -> None:
        """Show the next hint of the check."""
        self._check.give_hint()

    def __repr__(self) -> str:
        """Return a text that names the call which shows a hint, for a student who forgot the parentheses."""
        return f"For a hint add the parentheses: chapter.check.{self._check.key or '...'}.hint()"


class HintButton:
    """A button with the hints shown so far below it; the button disappears after the last hint."""

    def __init__(self, check: HintSource) -> None:
        """Make the button for the next hints of a check, without showing it."""
        import ipywidgets

        self._check = check
        self._shown: list[str] = []
        self.button = ipywidgets.Button(description=LABEL, tooltip=f"Show the next hint for {check.name!r}")
        self.hints = ipywidgets.HTML()
        self.box = ipywidgets.VBox([self.button, self.hints])
        self.box.add_class(CLASS)
        self.button.on_click(lambda _button: self.press())

    def press(self) -> None:
        """Show the check's next hint below the button and the earlier ones; hide the button after the last one."""
        self._shown.append(self._check.next_hint())
        # A screen reader announces new text in an element with the role "status".
        self.hints.value = f'<div role="status">{as_html(chr(10).join(self._shown))}</div>'
        if not self._check.hints_left:
            self.button.layout.display = "none"

    def close(self) -> None:
        """Remove the button and its hints from the notebook."""
        for widget in (self.button, self.hints, self.box):
            widget.close()


def offer(check: HintSource) -> HintButton | None:
    """Show a button for the next hint of a check, and return it; None, and nothing is shown, outside a notebook or
    without more hints.
    """
    display = display_module()
    if display is None or not check.hints_left:
        return None
    from netlab.widgets import WIDGET_VIEW

    made = HintButton(check)
    view = {"model_id": made.box.model_id, "version_major": 2, "version_minor": 0}
    # Without this plain text, a notebook without widgets would show the repr of this one.
    display.display({"text/plain": "", WIDGET_VIEW: view}, raw=True)
    return made
