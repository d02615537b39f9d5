"""Let TCP in a Mininet script's hosts build offloaded segments as Linux did before 5.18.

Mininet's queues count an offloaded segment (TSO) of up to 64 kB as one packet. At a low rate TCP built segments of two
frames until Linux 5.18. Since then it builds segments of 64 kB at any rate where the least RTT is below 0.5 ms, as in
most scripts without a delay: a queue of 20 packets at 1.5 Mbit/s then delays by 7 s instead of 0.3 s. Mininet's own
virtual machine and nearly all published results of scripts have older kernels.
"""

from pathlib import Path
from typing import Any

import mininet.node

from netlab_engines.agent.namespaces import enter_namespace

SETTING = Path("/proc/sys/net/ipv4/tcp_tso_rtt_log")
"""The binary logarithm of the least RTT in us from which segments are halved; 0 switches the dependence on the RTT off."""
OFFLOAD_OFF = "0"


def install() -> None:
    """Switch off, in this namespace and in that of each Mininet node made from now on, the growth of TCP's offloaded
    segments on paths with a small RTT (the sysctl tcp_tso_rtt_log); to be called before a script makes a node. Raises
    OSError if the kernel lacks the setting.
    """
    SETTING.write_text(OFFLOAD_OFF)
    node_class = mininet.node.Node
    plain_start = node_class.startShell

    def start_shell(self: Any, *words: Any, **named: Any) -> None:
        """Start the shell of the node `self` with Mininet's arguments, and write OFFLOAD_OFF to the kernel setting SETTING in
        the node's namespace if it has one of its own.
        """
        plain_start(self, *words, **named)
        if self.inNamespace:
            with enter_namespace(self.pid):
                SETTING.write_text(OFFLOAD_OFF)

    node_class.startShell = start_shell
