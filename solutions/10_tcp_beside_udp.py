# %% [markdown] id="title"
# # TCP beside UDP
#
# **What happens to the flow that slows down?**
#
# TCP slows down when packets are lost: it is *responsive*. UDP is not: it sends what the program asks for. What does
# each get on one link?
#
# After this chapter you can
#
# 1. compute what UDP leaves to TCP, and plan a UDP rate that leaves enough;
# 2. say how far the square-root formula can be trusted, and what decides where it fails;
# 3. give the router a queue that protects TCP.
#
# *Time*: [[minutes]] minutes. *Builds on*: UDP loss, Congestion control. *Runs on*: any machine on which the next
# cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np
import pandas as pd

import netlab as nl
from netlab_course.chapters import tcp_beside_udp

chapter = tcp_beside_udp.begin()
own, settings = chapter.own, chapter.settings
print(nl.preflight())

# %% [markdown] id="network-text"
# ## The network
#
# Hosts `h1` and `h2`, joined by switch `s1`, send to `h3` through router `r1`. Its link to `h3` has 5 Mbit/s; all others are fast. Before
# the slow link is a drop-tail queue with room for 100 packets. Three flows share it:
#
# - a *sensor* at `h1`, UDP, 1 Mbit/s of data, 1000 bytes in each datagram;
# - a *video* at `h2`, UDP, the same datagrams;
# - a software *update* at `h2`, TCP (CUBIC, Linux's default), as fast as it can.
#
# This is part 1.4 of lab 5 of *TCP/IP Networking*, EPFL, 2021. Its cases B1, B2 and B3 have a video of 0.5, 4 and 9 Mbit/s.

# %% id="network"
network = nl.topologies.three_pcs(rate_mbps=5, queue_packets=100)


def senders(video_mbps):
    """The three flows: sensor, video, update."""
    return [
        nl.Udp("h1", "h3", rate_mbps=1),
        nl.Udp("h2", "h3", rate_mbps=video_mbps),
        nl.Tcp("h2", "h3", start_s=1),
    ]


def video_scenario(
    video_mbps,
    seed=1,
    duration_s=nl.run_length_s(40, real_s=25),
    interval_s=1,
    network=network,
):
    """A scenario: the three flows share the slow link."""
    return nl.Scenario(network, senders(video_mbps), duration_s, seed, interval_s)


# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the first one in a sentence. The numbers are not graded.
#
# - B2: the video sends 4 Mbit/s, the sensor 1. How many Mbit/s does TCP get?
# - B3: the video sends 9 Mbit/s. How many **kbit/s** does TCP get?

# %% id="predict"
my_b2_mbps = 1.0  # SOLUTION
my_b3_kbps = 700  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "The video leaves 1 of 5 Mbit/s."
# END SOLUTION

b2_prediction = nl.checks.predict(
    "TCP in B2", my_b2_mbps, unit="Mbit/s", low=0, high=5, reason=my_reason
)
b3_prediction = nl.checks.predict("TCP in B3", my_b3_kbps, unit="kbit/s", low=0, high=5000)

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s | rate of the slow link |
# | $X$ | `udp_mbps` | Mbit/s | data that all UDP senders offer |
# | $P$ | `payload_bytes` | bytes | data in a datagram |
# | $M$ | `mss_bytes` | bytes | data in a full TCP segment, here 1448 |
# | $G$ | `goodput_mbps` | Mbit/s | data that arrives, each byte once |
# | $p$ | `loss_rate` | fraction | packets lost / packets sent |
# | $T$ | `rtt_ms` | ms (in formulas s) | round-trip time, queueing included |
# | $\tau$ | `first_timer_ms` | ms | first retransmission timeout |
#
# ## Part 1: what is left
#
# UDP never slows down, so TCP ends up with what UDP leaves. A datagram of $P$ bytes takes $P + 42$ bytes of this link.
# A segment with 1448 bytes of data takes 1514.
#
# So UDP's data $X$ leave TCP
#
# $$G = \Bigl(R - X\,\frac{P + 42}{P}\Bigr)\,\frac{1448}{1514}, \qquad\text{or 0 where nothing is left.}$$
#
# ### Exercise 1: does TCP get what is left?
#
# Let the video send [[beside_mbps]] Mbit/s: `video_scenario(own.beside_mbps)` is the scenario of 40 s. A colleague says: "On average TCP gets more than [[stated_mbps]] Mbit/s." What does $G$ say?
# Show with an interval whether he is right.

# %% id="repeated"
# Take 8 to 30 seeds in a row. my_refutation: a condition on the edges of an interval, such
# as "low > 1 and high < 2": for which intervals (in Mbit/s) is the statement refuted?
# my_verdict is "supported", "refuted" or "undecided".
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"high < {own.stated_mbps}"
my_table = nl.repeat(video_scenario(own.beside_mbps), seeds=10)
my_rows = my_table[my_table["kind"] == "tcp"]
my_interval = nl.interval(my_rows["goodput_mbps"])
mean, half = my_interval
if mean - half > own.stated_mbps:
    my_verdict = "supported"
elif mean + half < own.stated_mbps:
    my_verdict = "refuted"
else:
    my_verdict = "undecided"
# END SOLUTION
my_finding = [my_table, my_interval, my_refutation, my_verdict]

# %% id="repeated-check" tags=["minutes-8"]
chapter.check.repeated(my_finding)

# %% [markdown] id="sweep-text"
# ### Run it
#
# Seven rates of the video, 40 s each; the first 10 s do not count. Each has five seeds.

# %% id="sweep"
videos_mbps, seeds = (0.5, 2, 3, 3.5, 4, 6, 9), (1, 2, 3, 4, 5)
runs = nl.sweep({(v, seed): video_scenario(v, seed) for v in videos_mbps for seed in seeds})
measured = chapter.settings.goodputs(runs)

# %% id="sweep-figure" tags=["figure", "folded"]
left = chapter.settings.left_mbps
nl.plots.Comparison(
    x_label="Video (Mbit/s)",
    y_label="Goodput of TCP (Mbit/s)",
    residual="absolute",
    title="TCP beside sensor and video",
).add(
    "measured",
    measured.index.get_level_values(0),
    measured["TCP"],
    np.linspace(0.2, 9.5, 94),
    lambda x: [left(1 + v, 5, 1000) for v in np.atleast_1d(x)],
    published=([0.5, 4, 9], [3.403, 0.920, 0.045]),
)

# %% id="sweep-table" tags=["folded"]
tcp = {
    video: nl.interval(1000 * measured.loc[video, "TCP"])
    for video in measured.index.get_level_values(0).unique()
}
print(
    f"TCP in B2: {tcp[4][0]:.0f} +- {tcp[4][1]:.0f} kbit/s, "
    f"in B3: {tcp[9][0]:.0f} +- {tcp[9][1]:.0f} kbit/s\n"
    "(mean and 95 % interval of 5 seeds)"
)
b2_prediction.compare(tcp[4][0] / 1000, theory=left(5, 5, 1000))
b3_prediction.compare(tcp[9][0], theory=left(10, 5, 1000))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# I forgot two things. The sensor sends 1 Mbit/s too, so UDP has 5 of the 5 Mbit/s. And headers: 5 Mbit/s of data take 5.2 on the link, so nothing
# is left at all. TCP still gets 0.15 Mbit/s, because at random moments the queue has room, and then a datagram of UDP is dropped in its place.
#
# Rubric:
#
# - compares the number with the measured 0.15 Mbit/s;
# - the sensor, or the headers, or both: UDP alone fills the link;
# - why TCP gets something all the same: the queue is not full at every moment.
# <!-- END SOLUTION -->

# %% [markdown] id="sweep-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# *Up to 2 Mbit/s of video* hardly: TCP takes what is left, [[within 1 % = max(abs(tcp[v][0] / 1000 / left(1 + v, 5, 1000) - 1) for v in (0.5, 2)) | 0 .. 0.0125]].
#
# *At 3 and 3.5* TCP gets [[more than is left = all(tcp[v][0] - tcp[v][1] > 1000 * left(1 + v, 5, 1000) for v in (3, 3.5))]]. To find its rate it fills the queue, and a full queue drops datagrams too: of the video's 3.5 Mbit/s
# [[3.4 = measured.loc[3.5, "video"].mean() | .1f]] arrive.
#
# *From 4 on* UDP alone is more than the link carries. In B2 TCP still finds a gap now and then; in B3 it gets almost
# nothing. The lab's TCP (published) got more, 920 and 45 kbit/s.
#
# </details>

# %% [markdown] id="changed-text"
# ### Change one thing
#
# The slow link gets 6 Mbit/s, and the video sends 4 as in B2. How much of the additional 1 Mbit/s does TCP get? Say it, then run.

# %% id="changed"
changed_rate_mbps = 6
for rate_mbps in (5, changed_rate_mbps):
    slow = nl.topologies.three_pcs(rate_mbps=rate_mbps, queue_packets=100)
    got = nl.run(video_scenario(4, network=slow)).goodput_mbps(after_s=10).iloc[-1]
    print(f"{rate_mbps}: TCP gets {got:.2f} Mbit/s, theory {left(5, rate_mbps, 1000):.2f}")

# %% [markdown] id="video-text"
# ### Exercise 2: plan the video
#
# The update has [[update_mb]] MB (10⁶ bytes) and must be finished in [[update_minutes]] minutes. How fast may the video
# send at most, in Mbit/s of data? Sensor and datagrams as above. Tolerance: [[tolerance]].

# %% id="video"
my_video_mbps = ...
# BEGIN SOLUTION NO PROMPT
update_mbps = own.update_mb * 8 / (own.update_minutes * 60)
my_video_mbps = (5 - update_mbps * 1514 / 1448) / 1.042 - 1
# END SOLUTION

# %% id="video-check"
chapter.check.video(my_video_mbps)

# %% id="video-run"
if my_video_mbps is not ...:
    run = nl.run(video_scenario(my_video_mbps, duration_s=nl.run_length_s(60, real_s=30)))
    got_mbps = run.goodput_mbps(after_s=10).iloc[-1]
    print(f"TCP: {got_mbps:.2f} Mbit/s, {own.update_mb * 8 / got_mbps / 60:.1f} minutes")

# %% [markdown] id="formula-text"
# ## Part 2: a formula and its limits
#
# By the *square-root formula* (chapter on congestion control) TCP's rate follows from the losses that it sees:
#
# $$G = \frac{M}{T}\sqrt{\frac{3}{2p}}$$
#
# The lab puts in the video's loss rate, TCP's round-trip time, and $M = 2896$ bytes, twice our 1448. Its capture shows two segments in
# one (*segmentation offload*, chapter on UDP loss). With 1.22 for
# $\sqrt{3/2}$ this gives:
#
# | case | loss rate | round trip | formula | measured |
# |---|---|---|---|---|
# | B2 | 22 % | 60 ms | 1004 kbit/s | 920 kbit/s |
# | B3 | 52 % | 54 ms | 726 kbit/s | 45 kbit/s |
#
# Why is the formula nearly right in B2, and wrong by a factor of 16 in B3? Look at TCP's window, read four times a second.

# %% id="windows-figure" tags=["figure"]
cases = {"B1": 0.5, "B2": 4, "B3": 9}
duration_s = nl.run_length_s(30, real_s=20)
windows = nl.sweep(
    {
        name: video_scenario(video, 1, duration_s, interval_s=0.25)
        for name, video in cases.items()
    }
)
chapter.settings.windows_figure(windows, "TCP's congestion window in three cases")

# %% [markdown] id="windows-why"
# In B1 the window is CUBIC's sawtooth. When the start is over, between which numbers of segments does it move in B2, and in B3? Keep
# them for exercise 4.
#
# TCP notices a loss in two ways: by three duplicate acknowledgements, or by its *retransmission timer*.
# In Linux the first timer takes a round trip and at least 0.2 s more: with the lab's 60 ms it takes 260 ms, with a full queue longer. If the segment is lost again, the
# timer *doubles* (RFC 6298): 0.26, 0.52, 1.04 seconds, in Linux up to two minutes.
#
# ### Exercise 3: the mean wait
#
# A segment is sent. With the chance $p$ it is lost, and after $\tau$ it is sent again. With the chance $p$ that one is lost
# too, and the next timer takes $2\tau$, then $4\tau$, without an end. So the timer number $k$ runs if the segment was lost at least $k$
# times. Write the mean time that a segment waits for timers, for $p < 1/2$. You need the sum $1 + x + x^2 + \dots = 1 / (1 - x)$. A worked number: a first timer of [[wait_timer_ms]] ms and
# a loss rate of [[wait_loss_rate]] give [[worked_wait_ms:.4g]] ms. Tolerance: [[tolerance]].


# %% id="wait"
def wait_ms(first_timer_ms, loss_rate):
    """Mean time in ms that a segment waits for timers, each twice as long as the last."""
    # BEGIN SOLUTION
    return first_timer_ms * loss_rate / (1 - 2 * loss_rate)
    # END SOLUTION


# %% id="wait-check" tags=["minutes-13"]
chapter.check.wait(wait_ms)

# %% [markdown] id="losses-text"
# ### Run it
#
# A path with a known loss rate: 60 ms, 50 Mbit/s, which the losses never let it fill for long, no UDP, each segment lost at random. Reno, because the formula was derived for
# Reno's sawtooth; CUBIC's has another shape. Eight connections at once: eight draws.
#
# - *square root* is the formula above, with 1.31 instead of 1.22, because losses at random moments are less even than a sawtooth's; *too high* is formula over measurement;
# - *timeouts per loss* is timeouts divided by segments sent again;
# - *mean wait (s)* is your formula with a first timer of 260 ms; "-" means that it is infinite.


# %% id="lossy"
def lossy(loss_rate, duration_s, congestion="reno", **more):
    """A scenario of eight connections over a path that loses at random."""
    there = {"loss_rate": loss_rate, "reverse": {"loss_rate": 0}}
    path = nl.topologies.dumbbell(1, rate_mbps=50, delay_ms=30, queue_packets=1000, **there)
    eight = nl.Tcp("h1", "h2", congestion=congestion, streams=8)
    return nl.Scenario(path, [eight], duration_s, interval_s=max(1, duration_s / 100), **more)


# %% id="losses"
lengths_s = {0.005: 30, 0.02: 30, 0.05: 40, 0.1: 60, 0.2: 120, 0.3: 300}  # by loss rate
lengths_s |= {0.4: 800, 0.5: 2000, 0.6: 4000}
lossy_runs = nl.sweep(
    {p: lossy(p, nl.run_length_s(s, real_s=12)) for p, s in lengths_s.items()}
)

# %% id="losses-table" tags=["folded"]
losses = chapter.settings.loss_table(lossy_runs)
wait = chapter.check.wait.take(wait_ms, chapter.settings.wait_ms)
print("Goodput of one connection in kbit/s; +- is half the interval of 8")
print(chapter.settings.cliff_table(losses, wait).to_string())
waits_s = [wait(260, loss_rate) / 1000 for loss_rate in (0.45, 0.49)]
print("Mean wait at a loss rate of 0.45: {:.1f} s, of 0.49: {:.1f} s".format(*waits_s))

# %% [markdown] id="losses-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# - *Up to 2 %* there is hardly a timeout. The formula is right [[within a sixth = float((losses["square root"] / losses["measured"] - 1).iloc[:2].abs().max()) | 0 .. 0.167]].
# - *5 to 10 %*: still few, but the windows are small. The formula is too high [[by a quarter to a half = bool((losses["square root"] / losses["measured"]).iloc[2:4].between(1.2, 1.5).all())]].
# - *20 to 30 %*: it is wrong by [[a factor of two to more than three = bool((losses["square root"] / losses["measured"]).iloc[4:6].between(1.9, 4).all())]].
# - *From 40 % on* the goodput falls off a cliff. At 50 % the formula is [[more than ten times = float((losses["square root"] / losses["measured"]).iloc[7]) | 10 .. 100]] too high.
# Your own formula says why there is a cliff, and where.
#
# </details>

# %% [markdown] id="b3-words" tags=["minutes-13"]
# ### Exercise 4: explain B3 in your own words
#
# The lab writes about B3: the formula is "completely wrong here", the window is almost always one, "thus TCP is always in
# slow start". Explain to a fellow student in three or four sentences why the formula gives 726 kbit/s and TCP only 45: what
# the formula assumes about the window, what TCP really waits for, and why a loss rate of one half is a special
# place.
#
# <!-- BEGIN SOLUTION -->
# The formula describes a window that grows by one segment per round trip and is halved at each loss; it needs a window of
# several segments, so that a loss is noticed by the acknowledgements of later ones. At 52 % loss it asks for a mean window of
# 1.7 segments, so that often no later segment arrives to report a lost one. So TCP waits for its retransmission timer, at least
# 0.2 s and not one round trip of 54 ms. What it sends again is lost with the same 52 %, and each time the timer doubles. From
# one half on the longer waits are not rare enough to make up for their length, so TCP is silent most of the time.
#
# Rubric:
#
# - the formula's assumption: a window of several segments, halved at a loss that later acknowledgements report;
# - what happens instead: a window of about one segment, so that many losses are noticed by a timeout only ([[about one of two = float(losses["timeouts per loss"].iloc[7]) | 0.4 .. 0.6]], by the table above);
# - the timer doubles with each loss in a row, and at a loss rate of one half and more the mean wait is bounded only by the
#   longest timer.
# <!-- END SOLUTION -->

# %% [markdown] id="my-run-text"
# ## Part 3: a queue that protects
#
# A *fair queue* keeps a queue for each flow and serves them in turn. The option `aqm` of `three_pcs(...)` chooses the slow link's queue: `nl.topologies.three_pcs(rate_mbps=5, aqm="...")`. Three serve flows in turn:
# `fq`, `sfq` (*stochastic fairness queueing*) and `fq_codel` (which also keeps each queue short). In each of them all flows share the room of the queue.
#
# With room for 100 packets one of them does not protect. Which one? The result should be *max-min fair*: a flow that asks for less than an equal share gets all that it asks for,
# and the others share the rest equally.
#
# ### Exercise 5: save TCP
#
# Run the same three senders (to the end, without `window_bytes`), a video of **[[my_video_mbps]] Mbit/s**, the same slow link of 5 Mbit/s, at
# least 30 s. Change the queue alone (its kind, and its room if you like), so that TCP gets at least 1.7 Mbit/s and the sensor loses nearly
# nothing. Keep what `nl.run(...)` returns in `my_run`.

# %% id="my_run"
my_run = ...
# BEGIN SOLUTION NO PROMPT
fair = nl.topologies.three_pcs(rate_mbps=5, queue_packets=100, aqm="fq_codel")
my_run = nl.run(fair, senders(own.my_video_mbps), duration_s=30, interval_s=1)
# END SOLUTION

# %% id="my_run-check"
chapter.check.my_run(my_run)

# %% id="my_run-table" tags=["folded"]
if my_run is not ...:
    print(
        chapter.settings.fair_table(my_run, own.my_video_mbps).to_string(
            index=False, col_space=8
        )
    )

# %% [markdown] id="summary"
# ## Summary
#
# 1. Beside UDP, which does not slow down, TCP gets what is left. Where nothing is left, it gets almost nothing.
# 2. The square-root formula is for losses of a few per cent; from 40 % on what counts is how long the timers wait, and at one half
#    only the longest timer limits their mean wait.
# 3. What decides is the queue: drop-tail favours flows that do not respond to losses, a fair queue gives each flow its share, whatever the others send.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The panel has one UDP flow of `h1` and one TCP connection of `h2` on the link of 5 Mbit/s; one run is 20 s. Lines are theory: what is
# left, or max-min shares. Move a slider, and the experiment runs again.
#
# 1. Drop-tail: raise UDP from 1 to 10 Mbit/s. From which rate on does TCP get nearly nothing? Does more room in the queue save it?
# 2. The same with a queue for each flow. Which flow does UDP hurt now when it sends more than half of the link?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="lines-text"
# ## Optional: the cliff, and two other lines
#
# The factor $1 - 2p$ in your formula makes the cliff. At $p = 1/2$ each further timer is twice as long and half as likely. All of them count
# the same, so the sum for the mean does not converge; only the longest timer ends it. *Waiting* in the figure is a window of one segment and a timer that doubles
# up to 120 s: your formula is the main part of it. *PFTK* (Padhye and others, 1998) has timeouts too, but a timer that doubles six times at most.

# %% id="losses-figure" tags=["figure"]
chapter.settings.loss_figure(losses, "One Reno connection under random loss")

# %% id="lines"
print("Goodput of one connection in kbit/s")
print(losses[["measured", "PFTK", "waiting"]].round(1).to_string())

# %% [markdown] id="lines-why"
# PFTK is [[too low at 5 to 10 % = bool((losses["PFTK"] / losses["measured"]).iloc[2:4].between(0.65, 0.9).all())]]: in its model a loss costs the rest of its round. Selective acknowledgements (SACK) save much of that in Linux (see below). At 20 to 30 %
# it is [[nearer than the square-root formula, but too low = bool((losses["PFTK"] / losses["measured"]).iloc[4:6].between(0.6, 0.9).all())]]. At 60 % it is [[several times too high = float((losses["PFTK"] / losses["measured"]).iloc[8]) | 2.5 .. 6]]: it counts what is sent, of which 40 % arrive, and its timer stops doubling too early. For what arrives it would give [[about one and a half times = float(losses['PFTK'].iloc[8] * 0.4 / losses['measured'].iloc[8]) | 1.2 .. 2.2]] as much as measured.
#
# *Waiting* is [[less than half of the measurement at 40 % = float((losses["waiting"] / losses["measured"]).iloc[6]) | 0.3 .. 0.49]] (a second segment in flight still helps, see below), and [[a half to two thirds = bool((losses["waiting"] / losses["measured"]).iloc[7:].between(0.45, 0.7).all())]]
# of it at 50 and 60 %. There single waits of up to two minutes decide, and the eight connections differ by a lot.
#
# So there are two explanations: *SACK makes a loss cheap* (5 to 10 %), and *the second segment in flight helps* (40 %). What must each of them change if you take SACK away, or hold the window at one
# segment and at two? Write it down. Then test both: `connection_kbps` hands its arguments on to `lossy`, which takes `congestion=Fixed(1)` and `sysctls={"net.ipv4.tcp_sack": 0}`.


# %% id="reasons"
def connection_kbps(loss_rate, duration_s, **more):
    """Mean goodput of one of eight connections in kbit/s, with the interval of five runs."""
    runs = nl.sweep([lossy(loss_rate, duration_s, seed=seed, **more) for seed in range(1, 6)])
    return nl.interval([1000 * run.streams["goodput_mbps"].mean() for run in runs])


class Fixed:
    """A congestion control whose window is always the same."""

    def __init__(self, segments):
        self.segments = segments

    def on_start(self, flow):
        self.flow = flow
        self.flow.cwnd_segments = self.segments

    def on_ack(self, _ack):
        self.flow.cwnd_segments = self.segments

    on_loss = on_timeout = on_ack


usual = {p: connection_kbps(p, 40) for p in (0.05, 0.1)}
print(*(f"{p:.0%}: {found:.0f} kbit/s" for p, found in usual.items()), sep="\n")
# BEGIN SOLUTION
without = {p: connection_kbps(p, 40, sysctls={"net.ipv4.tcp_sack": 0}) for p in usual}
print(*(f"{p:.0%} without SACK: {found:.0f} kbit/s" for p, found in without.items()), sep="\n")
fixed = {n: connection_kbps(0.4, 400, congestion=Fixed(n)) for n in (1, 2)}
print(f"40%: window of one {fixed[1]:.0f} kbit/s, of two {fixed[2]:.0f}")
# END SOLUTION

# %% [markdown] id="reasons-why"
# <details><summary><b>Our two tests</b> (Open it when you have yours.)</summary>
#
# Without SACK [[more than half = all(0.5 < (usual[p].mean - without[p].mean) / (usual[p].mean - losses.loc[p, "PFTK"]) < 0.75 for p in usual)]] of the difference from PFTK goes away. With a window of one TCP gets [[a little more than *waiting* = bool(1 < fixed[1].mean / losses["waiting"].iloc[6] < 1.5)]], and
# with two [[much more = fixed[2].mean - fixed[2].half_width > 1.3 * (fixed[1].mean + fixed[1].half_width)]], [[nearly as much as Reno = bool(abs(fixed[2].mean / losses["measured"].iloc[6] - 1) < 0.25)]].
#
# Linux's newer loss detection, RACK (RFC 8985), needs fewer than three duplicate acknowledgements.
#
# </details>

# %% [markdown] id="whose-text"
# ## Optional: whose loss rate?
#
# In part 2 the lab took the *video's* loss rate for TCP's. Does TCP lose as much?

# %% id="whose"
red_options = {"min_packets": 20, "max_packets": 23, "probability": 1.0}
red = nl.topologies.three_pcs(5, queue_packets=100, aqm="red", aqm_options=red_options)
red_runs = nl.sweep(
    {(v, seed): video_scenario(v, seed, network=red) for v in (4, 9) for seed in range(1, 6)}
)

# %% id="whose-table" tags=["folded"]
seen = {
    case: settings.seen_losses([found[video, seed] for seed in range(1, 6)])
    for case, found, video in (
        ("B2", runs, 4),
        ("B3", runs, 9),
        ("B2, RED", red_runs, 4),
        ("B3, RED", red_runs, 9),
    )
}
tcp_kbps = [1000 * settings.goodputs(found)["TCP"] for found in (red_runs, runs)]
red_gives = {video: nl.interval(*(each[video] for each in tcp_kbps)) for video in (4, 9)}
print(f"RED gives {red_gives[4]:.0f} kbit/s more in B2, {red_gives[9]:.0f} in B3")
print("Mean and 95 % interval of five seeds.")
print("The last four in kbit/s, with TCP's loss and RTT")
print(
    pd.DataFrame(seen)
    .T.round(2)
    .rename(columns=lambda name: name[:2] if name.startswith("+-") else name)
    .to_string()
)

# %% [markdown] id="whose-why"
# In B2 TCP loses [[more than twice as much as the video = seen["B2"]["TCP loses"] / seen["B2"]["video loses"] | 2.05 .. 2.8]]. TCP sends two segments back to back, and the second one finds the
# queue fuller than the first. (Test it below.) With *RED*, which drops at random before the queue is full (the lab's routers had it on), the two
# are [[nearer to each other = seen["B2, RED"]["TCP loses"] / seen["B2, RED"]["video loses"] | 1.05 .. 1.4]]. RED also keeps the queue short: the round trip is some [[60 ms as in the lab = float(seen["B2, RED"]["RTT (ms)"]) | 55 .. 64]], not [[160 = float(seen["B2"]["RTT (ms)"]) | 155 .. 170]], and TCP gets
# [[more in B2 = red_gives[4].mean > red_gives[4].half_width]]. (In B3 [[five seeds are too few = bool(seen["B3"]["TCP loses"] - seen["B3"]["+- TCP"] < seen["B3"]["video loses"] and abs(red_gives[9].mean) < red_gives[9].half_width)]] to say any of this.) That is still less than the lab's 920. The lab's segments
# of 2896 bytes (*segmentation offload*: the kernel cuts them later) make twice the rate by the formula. Is that the reason? Say what you expect, then run the cell.

# %% id="offload"
uncut = nl.topologies.three_pcs(
    5, queue_packets=100, aqm="red", aqm_options=red_options, segmentation_offload=True
)
uncut_runs = nl.sweep(
    {(4, seed): video_scenario(4, seed, network=uncut) for seed in range(1, 6)}
)
cut_kbps = nl.interval(1000 * settings.goodputs(red_runs).loc[4, "TCP"])
uncut_kbps = nl.interval(1000 * settings.goodputs(uncut_runs).loc[4, "TCP"])
print(f"TCP in B2 with RED: {cut_kbps:.0f} kbit/s, with offload {uncut_kbps:.0f} kbit/s")

# %% [markdown] id="offload-why"
# In our network it is not: with offload TCP gets [[half as much = uncut_kbps.mean / cut_kbps.mean | 0.4 .. 0.6]]. So we do not know why the lab's TCP got more.
#
# **Two segments back to back: test it.** A slow link at `h2` puts a gap between them. `behind(access_mbps, seed)` gives the link of `h2` this rate (`None`: no limit). By how much does TCP's loss rate, divided by the video's, fall at 20 and at 10 Mbit/s?


# %% id="access"
def behind(access_mbps, seed):
    """A scenario of B2 in which the link of h2 has this rate."""
    fast = {"rate_mbps": None, "queue_packets": None}
    room = 1000 if access_mbps else None
    access = nl.Link("h2", "s1", rate_mbps=access_mbps, queue_packets=room, reverse=fast)
    slow = nl.Link("r1", "h3", rate_mbps=5, queue_packets=100, reverse=fast)
    links = [nl.Link("h1", "s1"), access, nl.Link("s1", "r1"), slow]
    three = nl.Topology(["h1", "h2", "h3"], ["r1"], ["s1"], links)
    return video_scenario(4, seed, network=three)


ratios = {}
# BEGIN SOLUTION
for mbps in (None, 20, 10):
    paced = nl.sweep([behind(mbps, seed) for seed in range(1, 9)])
    losses_of = [run.flows["loss_rate"] for run in paced]  # sensor, video, TCP
    ratios[mbps] = nl.interval([rates.iloc[2] / rates.iloc[1] for rates in losses_of])
# END SOLUTION
print(
    *(f"h2 at {mbps or 'any'} Mbit/s: {ratio:.2f}" for mbps, ratio in ratios.items()), sep="\n"
)

# %% [markdown] id="access-why"
# <details><summary><b>Our test</b> (Open it when you have yours.)</summary>
#
# In eight draws the ratio falls from [[2.5 ± 0.2 = f"{ratios[None]:.1f}" | s]] to [[1.26 ± 0.04 = f"{ratios[20]:.2f}" | s]] at 20 Mbit/s and [[0.9 ± 0.1 = f"{ratios[10]:.1f}" | s]] at 10. So pairs of segments are the reason.
#
# </details>

# %% [markdown] id="cable-text"
# ## Optional: the same contest, another winner
#
# Task 8 of an *assignment of ITS 413*, Internet Technologies and Applications, SIIT Thammasat, does the same on a cable of
# 100 Mbit/s: TCP and $n$ UDP flows of 100 Mbit/s each, all from one laptop to another. What do you expect of TCP beside one of them?
# By all that we know it should starve. The report says: TCP always gets *more* than any UDP flow, and all together always
# 95 Mbit/s. It concludes that "TCP is given higher priority".
#
# One thing is different: the slow link is the sender's own, so its queue is in the sender's kernel. A program that sends UDP
# *waits* when its socket's send buffer is full of packets that have not left yet. Nothing is dropped.
#
# We run 1 to 4 UDP flows with the usual buffer (212 992 bytes). Then we run one flow with half of it, and one with twice. The last flow never waits: its
# buffer is so large that the queue drops, as in part 1.


# %% id="cable-flows"
cable = nl.topologies.chain([100], [0.1], 1000, framing="ethernet")  # Mbit/s, ms, packets
usual_bytes = 212_992


def iperf_udp(send_buffer_bytes=usual_bytes, **when):
    """A UDP flow as iperf's: it waits while its send buffer is full."""
    iperf = {"rate_mbps": 100, "payload_bytes": 1470, "spacing": "random"}
    return nl.Udp("h1", "h2", **iperf, send_buffer_bytes=send_buffer_bytes, **when)


# %% id="cable"
my_cable_mbps = 1  # SOLUTION
cable_prediction = nl.checks.predict(
    "TCP beside UDP on a cable", my_cable_mbps, unit="Mbit/s", low=0, high=100
)

# %% id="cable-run"
udp_flows = {("usual", count): [iperf_udp()] * count for count in (1, 2, 3, 4)}
buffers_bytes = {"half": usual_bytes // 2, "twice": 2 * usual_bytes, "never waits": None}
udp_flows |= {(name, 1): [iperf_udp(size)] for name, size in buffers_bytes.items()}
contests = {
    case: nl.Scenario(cable, [nl.Tcp("h1", "h2"), *udp], duration_s=3, interval_s=0.1)
    for case, udp in udp_flows.items()
}
cable_table = settings.crowd_table(nl.sweep(contests))
print("Goodput in Mbit/s; packets in the queue on average, and dropped")
print(cable_table.round(1).astype({"queued": int, "dropped": int}).to_string())
cable_prediction.compare(
    cable_table.loc[("usual", 1), "TCP"], theory=settings.crowd_theory_mbps(1)[0]
)

# %% id="cable-figure" tags=["figure", "folded"]
settings.crowd_figure(cable_table.loc["usual"], "TCP and UDP flows from one host, 100 Mbit/s")

# %% [markdown] id="cable-why"
# These are the report's two results: [[95 Mbit/s in all = bool(cable_table.loc["usual", "total"].between(94.5, 95.5).all())]], and TCP [[above each UDP flow = bool((cable_table.loc["usual", "TCP"] > 1.5 * cable_table.loc["usual", "each UDP"]).all())]]. No priority is needed for that. Packets leave a
# first-in first-out queue in the proportion in which they are in it (Little's law), so a flow that keeps more there gets more. Theory
# counts 88 packets of TCP in the queue and 46 of each UDP flow. The column `queued` shows a little more: [[141 packets = cable_table.loc[("usual", 1), "queued"] | 138 .. 144]] with one UDP flow, and [[about 50 = cable_table.loc["usual", "queued"].diff().iloc[1:].mean() | 46 .. 53]] more with each other one. (Linux lets one connection keep two
# segments of up to 64 kB in its own host's queue, *TCP small queues*; 88 packets are just that. Whether the lab's kernel did so we do not know: see Limits.)
#
# The buffer is the test: with half of it UDP has [[a quarter of TCP's rate = float(cable_table.loc[("half", 1), "each UDP"] / cable_table.loc[("half", 1), "TCP"]) | 0.25 .. 0.29]] instead of [[a half = float(cable_table.loc[("usual", 1), "each UDP"] / cable_table.loc[("usual", 1), "TCP"]) | 0.48 .. 0.56]]; with twice, [[about as much as TCP = float(cable_table.loc[("twice", 1), "each UDP"] / cable_table.loc[("twice", 1), "TCP"]) | 0.95 .. 1.1]].
# (One run of each.)
# Without waiting the queue drops, and TCP starves as in part 1. **Where the queue drops, the responsive flow loses. Where the sender must
# wait, both slow down.**

# %% [markdown] id="beginning-text"
# ## Optional: a slow beginning
#
# On this cable, beside three UDP flows, CUBIC needs more than a second to get its share, and Reno does not. Why? Here is the first half second of both, five seeds each.


# %% id="beginning"
def start(control, seed, before=()):
    """A scenario: the first half second of TCP beside three UDP flows."""
    tcp = nl.Tcp("h1", "h2", congestion=control)
    flows = [*before, tcp, *[iperf_udp()] * 3]
    return nl.Scenario(cable, flows, duration_s=0.5, interval_s=0.25, seed=seed)


def beginning(control, before=()):
    """Goodputs from 0.25 to 0.5 s, the ends of slow start in segments, and what was lost."""
    runs = nl.sweep([start(control, seed, before) for seed in range(1, 6)])
    rows = [
        run.intervals[run.intervals["flow"].str.contains(control)].iloc[-1] for run in runs
    ]
    lost = sum(run.flows["retransmits"].sum() + run.queues["drops"].max() for run in runs)
    goodputs_mbps = [row["goodput_mbps"] for row in rows]
    return goodputs_mbps, [float(row["ssthresh_segments"]) for row in rows], lost


begun = {control: beginning(control) for control in ("cubic", "reno")}
for control, (goodputs_mbps, left_at, lost) in begun.items():
    print(f"{control}: {nl.interval(goodputs_mbps):.0f} Mbit/s, packets lost: {lost:.0f}")
    print("  slow start ends at", *left_at)

# %% [markdown] id="hystart-text"
# Nothing is lost, and CUBIC leaves slow start all the same, at [[16 or 17 segments = set(begun["cubic"][1]) == {16, 17}]]. The suspect is its *HyStart* (Ha and Rhee, 2011), which ends slow start when the round trip grows: UDP's packets
# are in the queue already. What must CUBIC do without it? Write down a number. Then switch it off, with this command as the first item of the traffic (in the pocket engine):
# `nl.Command("h1", "echo 0 > /sys/module/tcp_cubic/parameters/hystart")`.

# %% id="hystart"
my_without = ...
# BEGIN SOLUTION NO PROMPT
off = nl.Command("h1", "echo 0 > /sys/module/tcp_cubic/parameters/hystart")
my_without = beginning("cubic", before=[off])
# END SOLUTION
if my_without is not ...:
    print(f"CUBIC without HyStart: {nl.interval(my_without[0]):.0f} Mbit/s")

# %% [markdown] id="beginning-why"
# <details><summary><b>Our test</b> (Open it when you have yours.)</summary>
#
# Without HyStart CUBIC stays in slow start and is [[as fast as Reno, as far as five seeds tell = bool(abs(nl.interval(my_without[0], begun["reno"][0]).mean) < nl.interval(my_without[0], begun["reno"][0]).half_width)]], and [[more than twice as fast as with it = min(my_without[0]) > 2 * max(begun["cubic"][0])]]. So HyStart is the reason.
#
# </details>

# %% [markdown] id="published-text"
# ## Optional: what the labs measured
#
# The lab at EPFL is `epfl`, the assignment at SIIT `siit`.

# %% id="published" tags=["folded"]
mean = measured.groupby(level=0).mean()
red = settings.goodputs(red_runs).groupby(level=0).mean()
udp = {video: nl.theory.udp_shares_mbps([1, video], 5) for video in (0.5, 4, 9)}
lab = {0.5: (952, 449, 3403), 4: (833, 3136, 920), 9: (475, 4291, 45)}
rows = []
for case, video in (("B1", 0.5), ("B2", 4), ("B3", 9)):
    theory_mbps = [*udp[video], left(1 + video, 5, 1000)]
    for place, flow in enumerate(("sensor", "video", "TCP")):
        with_red = red.loc[video, flow] * 1000 if video in red.index else float("nan")
        rows.append(
            (
                f"epfl {case}: {flow}, kbit/s",
                1000 * theory_mbps[place],
                1000 * mean.loc[video, flow],
                with_red,
                lab[video][place],
            )
        )
total = cable_table.loc["usual", "total"]
rows.append(
    (
        "siit: total, Mbit/s",
        sum(settings.crowd_theory_mbps(2)) + settings.crowd_theory_mbps(2)[1],
        total.loc[2],
        float("nan"),
        95,
    )
)
print(
    pd.DataFrame(rows, columns=["", "theory", "here", "with RED", "published"]).to_string(
        index=False, na_rep="-", float_format="%.0f"
    )
)

# %% [markdown] id="published-why"
# Theory is "what is left" for TCP and equal acceptance for UDP. In B2 the lab's TCP took 0.9 Mbit/s from the two UDP flows;
# ours took less (see the table), with RED more than without. We do not know why: "whose loss rate?" above tests two reasons, and neither is enough. The lab's own theory for B1 counts the 38 bytes of a real wire.

# %% [markdown] id="open"
# ## Open exercises
#
# 1. Repeat part 1 with `congestion="bbr"`. BBR does not slow down at a loss. Does it starve in B3?
# 2. Behind a link of 10 Mbit/s TCP of `h2` loses no more than the video ("whose loss rate?"). What if only one of the two has that link? Which of them made the bursts?
# 3. Give the cable of task 8 a router: `nl.topologies.chain([None, 100], [0, 0.1], 1000, framing="ethernet")`. Predict before you run it, with the usual buffer.
# 4. **Challenge.** A responsive video: RFC 8085 asks a UDP sender to send no more than TCP would. Write a sender that
#    chooses its rate from the loss that it measures and the square-root formula, step by step of 10 s, beside one TCP
#    connection. Where does it end up? (RFC 5348 does it with PFTK.)
#
# ### Reading
#
# - M. Mathis, J. Semke, J. Mahdavi, T. Ott, *The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm*, ACM Computer
#   Communication Review, 1997.
# - J. Padhye, V. Firoiu, D. Towsley, J. Kurose, *Modeling TCP Throughput*, ACM SIGCOMM, 1998.
# - V. Paxson, M. Allman, J. Chu, M. Sargent, *Computing TCP's Retransmission Timer*, RFC 6298, 2011.
# - Y. Cheng, N. Cardwell, N. Dukkipati, P. Jha, *The RACK-TLP Loss Detection Algorithm for TCP*, RFC 8985, 2021.
# - L. Eggert, G. Fairhurst, G. Shepherd, *UDP Usage Guidelines*, RFC 8085, 2017.
# - S. Ha, I. Rhee, *Taming the Elephants: New TCP Slow Start*, Computer Networks 55(9), 2011.
# - J. Little, *A Proof for the Queuing Formula L = λW*, Operations Research, 1961.
# - E. Dumazet, J. Corbet, *TCP small queues*, LWN.net, 2012.
#
# The published results come from lab 5 of *TCP/IP Networking*, EPFL, 2021 (section 1.4) and from task 8 of the assignment of
# ITS 413, SIIT Thammasat; the latter gives its shares as a bar chart without numbers.
#
# ## Limits
#
# UDP here sends at random moments, like many sources at once; a single clockwork sender locks in phase with the link and can
# take nearly all (chapter on congestion collapse). Five seeds are few: TCP in B3 delivers [[about twenty segments a run = float(np.mean([runs[9, seed].flows["goodput_mbps"].iloc[2] for seed in range(1, 6)]) * 39e6 / 8 / 1448) | 12 .. 28]], and
# the interval of its mean [[reaches down to nothing = bool(tcp[9][0] < tcp[9][1])]]. The report does not name the laptops' kernel. A kernel before Linux 3.6 has no TCP small queues:
# in it, only the receive window limits what TCP keeps in the queue. The 88 and 46 packets are our kernel's.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
made = windows["B1"].settings
print(
    f"netlab {made['netlab']}, {made['engine']} engine, {made['clock']} time, "
    f"Linux {made['kernel']}, seed {made['scenario']['seed']}"
)
