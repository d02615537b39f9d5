"""The published labs, a module for each, with the measurement of every number that a chapter covers."""

from functools import cache

from netlab_replication.labs import appenzeller, ece6110, epfl, hifi, lab9, siit, simpleperf
from netlab_replication.measurement import Measurements

LABS = {
    "simpleperf": simpleperf,
    "siit": siit,
    "epfl": epfl,
    "ece6110": ece6110,
    "lab9": lab9,
    "appenzeller": appenzeller,
    "hifi": hifi,
}


@cache
def measurements() -> dict[tuple[str, str, str], Measurements]:
    """Return the measurements of all labs, by source, table and setting, such as ("epfl", "collapse", "TCP"); each
    value is a mapping by flow and quantity, such as ("h1-h4", "goodput").
    """
    return {(source, *setting): found for source, lab in LABS.items() for setting, found in lab.measurements().items()}
