"""lab9: parallel TCP streams over 10 Gbit/s and 20 ms in Mininet."""

from netlab import theory
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_replication.measurement import MEBI, Measurement, Settings, goodput

WINDOW_BYTES = 8 * MEBI
QUEUE_BYTES = 15_000_000


def _scenario(streams: int, delay_ms: float, loss_rate: float = 0.0, window_bytes: int | None = None) -> Scenario:
    """Return the scenario of 5 s of TCP with `streams` connections from h1 to h2 over 10 Gbit/s. `delay_ms` and
    `loss_rate` (0 to 1) are those of the way from h1 to h2 alone; `window_bytes` limits the window of each connection
    (None: not).
    """
    link = Link(
        "h1",
        "h2",
        rate_mbps=10_000,
        delay_ms=delay_ms,
        loss_rate=loss_rate,
        queue_bytes=QUEUE_BYTES,
        reverse={"loss_rate": 0.0, "delay_ms": 0.0},
    )
    flow = Tcp("h1", "h2", streams=streams, window_bytes=window_bytes)
    return Scenario(Topology(hosts=["h1", "h2"], links=[link]), [flow], duration_s=5)


def measurements() -> Settings:
    """Return the measurements of the throughput in Mbit/s in each published setting of this lab, by table and setting,
    then by flow and quantity, ("h1-h2", "throughput").
    """
    limit = theory.tcp_goodput_limit_mbps(10_000)
    window = theory.window_limit_mbps(float(WINDOW_BYTES), 20)
    far = {count: _scenario(count, 20, window_bytes=WINDOW_BYTES) for count in (1, 8)}
    name = {1: "h1-h2 cubic", 8: "h1-h2 cubic ×8"}

    def lossy(streams: int) -> Measurement:
        """Return the measurement of the throughput of `streams` connections (1 or 8) with 1 % random loss and without
        delay; its second run has the delay of 20 ms.
        """
        mathis = theory.parallel_streams_mbps(float(streams), theory.MSS_BYTES, 20, 0.01)
        return Measurement(
            _scenario(streams, 0, 0.01),
            goodput(name[streams], 1),
            None,
            "The publisher removed the delay with the old rule before adding the loss, so their RTT was a LAN's; with the "
            f"20 ms of the setting a second run has {{value:.4f}} Gbit/s, where Mathis says {mathis / 1000:.4f}.",
            _scenario(streams, 20, 0.01),
        )

    key = ("h1-h2", "throughput")
    return {
        ("buffer", "10 Gbit/s 20 ms default buffers one stream"): {
            key: Measurement(
                far[1],
                goodput(name[1], 1),
                window,
                "Theirs is the mean with slow start (3.30 in the steady state that they print); without a window of 8 MiB a "
                "second run has {value:.2f} Gbit/s.",
                _scenario(1, 20),
                read_second=goodput(name[1], 2),
            )
        },
        ("buffer", "10 Gbit/s 20 ms default buffers eight streams"): {
            key: Measurement(far[8], goodput(name[8], 1), min(8 * window, limit))
        },
        ("loss", "10 Gbit/s 1 % random loss one stream"): {key: lossy(1)},
        ("loss", "10 Gbit/s 1 % random loss eight streams"): {key: lossy(8)},
    }
