"""The captures of a live network: their files and their packets."""

import shutil
from pathlib import Path
from typing import Protocol

import pandas as pd

from netlab import captures
from netlab.base.errors import RunError
from netlab.captures import Capture
from netlab_engines.files import CAPTURES
from netlab_engines.lab.session import GuestSession


class LabWithCaptures(Protocol):
    """The part of a live network that its captures use."""

    session: GuestSession
    origin: captures.Origin
    artifacts: Path


class LiveCapture:
    """A running capture of the packets of a live network's link."""

    def __init__(self, lab: LabWithCaptures, item: Capture, label: str, interfaces: list[str]) -> None:
        """Make the object for a capture that runs in the live network `lab`; nothing is started. `item` has its
        settings, `label` is its name there, and `interfaces` are the names of the sending interfaces of the link's two
        directions.
        """
        self._lab = lab
        self._item = item
        self._label = label
        self._interfaces = interfaces
        self._path: Path | None = None

    def __repr__(self) -> str:
        """Return a text with the capture's settings, for display."""
        return f"LiveCapture({self._item!r})"

    def stop(self) -> Path:
        """End the capture and return the path of its pcapng file, for example for Wireshark, which has only packets
        that match the filter; the file is deleted with the live network. A second call returns the path again. Raises
        RunError if packets were lost (the file is made all the same).

        Raises
        ------
        RunError
            If the capture lost packets because more arrived at one time than its ring holds.
        """
        if self._path is None:
            lab = self._lab
            lost = lab.session.request().stop_capture(name=self._label)["lost"]
            folder = lab.session.guest.folder / CAPTURES
            (path,) = captures.finish(folder, [(self._item, self._label, self._interfaces)], lab.origin)
            self._path = Path(shutil.move(path, lab.artifacts / path.name))
            if lost:
                raise RunError(f"The capture {self._label} lost {lost} packets; the others are in {self._path}.")
        return self._path

    @property
    def packets(self) -> pd.DataFrame:
        """The captured packets as a table with the columns of `netlab.captures.PACKET_COLUMNS`, one row per packet;
        reading it ends the capture, as `stop` does.
        """
        return captures.read_packets(self.stop())
