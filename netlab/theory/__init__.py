"""Formulas of textbooks and papers for goodput, loss, delay and fairness.

Rates are in Mbit/s (10**6 bit/s), times in ms unless the name ends in `_s`, sizes in bytes, loss rates are fractions.
The docstring of a formula says under which conditions it holds and when it misleads; a comparison with a measurement
shows whether they were met.
"""

import inspect
from types import ModuleType
from typing import Any

from netlab.base.errors import unknown_name
from netlab.base.headers import (
    ICMP_HEADER_BYTES,
    IP_HEADER_BYTES,
    MSS_BYTES,
    MTU_BYTES,
    TCP_HEADER_BYTES,
    UDP_HEADER_BYTES,
)
from netlab.theory.arq import go_back_n_mbps, selective_repeat_mbps
from netlab.theory.buffers import many_flows_queue_packets, many_flows_utilization
from netlab.theory.certainty import runs_needed, student_t
from netlab.theory.collapse import (
    FifoNetwork,
    acceptance_ratio,
    fifo_network,
    two_router_collapse_mbps,
    two_router_fair_queue_mbps,
)
from netlab.theory.dctcp import dctcp_queue_packets, dctcp_threshold_packets
from netlab.theory.delay import (
    AnyHop,
    Hop,
    bdp_bytes,
    bottleneck,
    nodal_delay_ms,
    path_delay_ms,
    ping_rtt_ms,
    propagation_delay_ms,
    queueing_delay_ms,
    segment_rtt_ms,
    transmission_delay_ms,
)
from netlab.theory.fairness import (
    RTT_EXPONENTS,
    alpha_fair_mbps,
    cubic_optimum_mbps,
    jain_index,
    max_min_mbps,
    proportional_fair_mbps,
    reno_optimum_mbps,
    rtt_shares_mbps,
)
from netlab.theory.framing import (
    FRAMING_BYTES,
    Framing,
    tcp_goodput_limit_mbps,
    tcp_wire_bytes,
    udp_goodput_limit_mbps,
    udp_wire_bytes,
)
from netlab.theory.queueing import late_share, mean_wait_ms, relaxation_ms
from netlab.theory.ranges import TheoryError
from netlab.theory.slow_start import short_flow_ms, slow_start_fill_s, slow_start_goodput_mbps, slow_start_rounds
from netlab.theory.tcp import (
    MATHIS_C,
    MATHIS_RANDOM_C,
    aimd_cost_segments,
    backoff_mbps,
    cubic_mbps,
    mathis_mbps,
    parallel_streams_mbps,
    pftk_mbps,
    window_limit_mbps,
    windowed_goodput_mbps,
)
from netlab.theory.udp import held_shares_mbps, udp_goodput_mbps, udp_loss_rate, udp_shares_mbps
from netlab.theory.usual import complete
from netlab.theory.wifi import Saturation, wifi_exchange_us, wifi_saturation, wifi_tcp_limit_mbps, wifi_udp_limit_mbps

_OTHERS = {"Any", "ModuleType", "complete", "unknown_name"}
__all__ = [
    name
    for name, value in sorted(globals().items())
    if not (name.startswith("_") or name in _OTHERS or isinstance(value, ModuleType))
]

for _name in __all__:
    if inspect.isfunction(inspect.unwrap(globals()[_name])):
        complete(globals()[_name])


def __dir__() -> list[str]:
    return [name for name in __all__ if not name.startswith("Any")]


def __getattr__(name: str) -> Any:
    """Raise AttributeError for a name that `netlab.theory` lacks, with the nearest formula."""
    raise unknown_name("netlab.theory", name, __all__)
