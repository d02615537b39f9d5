"""A quantity that the chapter "Wi-Fi" computes from its runs."""

from netlab.measure.results import Run


def segments_per_ack(run: Run, after_s: float = 0.5) -> float:
    """Return the number of frames that h1 sent in a run for each frame that h2 sent, after the first `after_s` seconds;
    with TCP from h1 to h2 these are data and acknowledgements.
    """
    sent = run.queues.pivot_table(index="t_s", columns="interface", values="sent_packets")
    late = sent.iloc[-1] - sent[sent.index >= after_s].iloc[0]
    return float(late["h1-eth0"] / late["h2-eth0"])
