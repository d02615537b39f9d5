"""Names of queues: the ends of their links."""

from collections import Counter
from collections.abc import Sequence


def queue_names(ends: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return the queue's name, such as "home to isp", by interface; `ends` has (interface, src, dst) of each.

    >>> queue_names([("home-eth1", "home", "isp"), ("isp-eth0", "isp", "home")])
    {'home-eth1': 'home to isp', 'isp-eth0': 'isp to home'}
    """
    names: dict[str, str] = {}
    count = Counter[tuple[str, str]]()
    for interface, src, dst in ends:
        count[src, dst] += 1
        # Two nodes may have more links between them.
        names[interface] = f"{src} to {dst}" + (f", link {count[src, dst]}" if count[src, dst] > 1 else "")
    return names
