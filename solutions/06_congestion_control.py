# %% [markdown] id="title"
# # Congestion control
#
# **What is one lost packet worth?**
#
# TCP is not told how fast it may send. It sends more and more, until a packet is lost, and the sender pays for the loss. How much?
#
# After this chapter you can
#
# 1. name what a sender does, at each moment, from a plot of its window;
# 2. compute what a loss costs, and the queue that makes it free;
# 3. say which loss rate leaves which goodput, and when the formula for it fails.
#
# *Time*: [[minutes]] minutes. *Builds on*: BDP. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np

import netlab as nl
from netlab_course.chapters import congestion_control
from netlab_course.chapters.congestion_control import experiments, plots

chapter = congestion_control.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# One host sends by TCP over 10 Mbit/s. The round trip takes 40 ms, so 33 full packets are in flight when the link is just
# full. The queue holds nearly nothing. How many packets' worth of sending time does *one* lost packet cost? Write down a number before you see the result, and
# your reason in a sentence. The number is not graded.

# %% id="predict"
my_cost_segments = 140  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "Half of a window of 33 is missing at first, and the climb takes 16 round trips."
# END SOLUTION

cost_guess = nl.checks.predict(
    "cost of a loss", my_cost_segments, "segments", low=0, high=1e4, reason=my_reason
)

# %% [markdown] id="network-text"
# ## The network
#
# `h1` sends to `h3` over a router. The router's link to `h3` is slow: 10 Mbit/s, 20 ms each way, a queue of 33 packets. The queue is *drop-tail*: it takes
# packets until it is full and drops what comes then. `h2` is a neighbour of `h1`.


# %% id="network"
def path(rate_mbps, delay_ms, queue_packets, loss_rate=0.0):
    """Two senders and a slow link from r1 to h3 with this queue and random loss."""
    back = {"rate_mbps": 1000, "queue_packets": 1000, "loss_rate": 0}
    there = {"rate_mbps": rate_mbps, "queue_packets": queue_packets, "loss_rate": loss_rate}
    slow = nl.Link("r1", "h3", delay_ms=delay_ms, **there, reverse=back)
    links = [nl.Link("h1", "r1"), nl.Link("h2", "r1"), slow]
    return nl.Topology(hosts=["h1", "h2", "h3"], routers=["r1"], links=links)


network = path(rate_mbps=10, delay_ms=20, queue_packets=33)

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s | rate of a link |
# | $T$ | `rtt_ms` | ms (in formulas s) | round-trip time, queueing included |
# | $W$ | `cwnd_segments` | segments | data in flight |
# | $B$ | `bdp_bytes` | bytes | bandwidth-delay product |
# | $Q$ | `queue_packets` | packets | room in the queue before the link |
# | $M$ | `mss_bytes` | bytes | application data in a full TCP segment, 1448 |
# | $p$ | `loss_rate` | fraction | packets lost / packets sent |
#
# A full segment has 1514 bytes on this link. A sender keeps a *congestion window*, $W$: the most segments that may be in flight.
# Each *acknowledgement* (ACK) says up to where the receiver has all data, and lets new segments out.
#
# ## Part 1: watch a window
#
# TCP Reno for 15 s. After 10 s the neighbour sends 200 Mbit/s for 0.3 s; nearly every packet that meets this burst is lost. The
# window is read every 20 ms.

# %% id="watch" tags=["figure"]
reno = nl.Tcp("h1", "h3", congestion="reno")
burst = nl.Udp("h2", "h3", rate_mbps=200, start_s=10, duration_s=0.3)
watched = nl.run(network, [reno, burst], duration_s=15, interval_s=0.02)
plots.window_figure(
    watched, rate_mbps=10, rtt_ms=40, queue_packets=33, title="The window of one Reno flow"
)

# %% [markdown] id="watch-why"
# - **Slow start.** Each ACK lets the window grow by a segment, so the window doubles in each round trip. It grows far above what path and
#   queue hold (the upper dashed line), until the sender hears of a loss. Dozens of segments are lost at once.
# - **Fast retransmit.** The receiver repeats its last ACK for each segment that comes after a gap. After three such *duplicate ACKs*
#   the segment is sent again at once.
# - **Fast recovery.** Until the gap is filled the sender goes on with about half of the window.
# - **Congestion avoidance.** Above a threshold the window grows by one segment in each round trip, until the queue overflows and a
#   loss halves it: *additive increase, multiplicative decrease* (AIMD).
# - **Timeout.** In the burst the repairs are lost too. A timer expires (in Linux at least 0.2 s longer than the round trip),
#   and the sender begins again with a window of one.
#
# ## Part 2: the price of a loss
#
# Take a queue that holds nearly nothing. Then the link is just full at a window of $W = B$, and the next segment
# is lost. The window falls to $W/2$ and climbs back. Meanwhile the link could have carried $W$ segments in each round trip, and did not.
#
# ### Exercise 1: the price in segments
#
# Write the function: how many segments are *not* sent until the window is back? Draw the climb on paper; you need the
# area of one shape. The window is the BDP in packets of 1514 bytes. A worked number: 4 Mbit/s and 50 ms give $W = 16.5$ and a
# cost of 34.1 segments. Tolerance: [[tolerance]].


# %% id="cost"
def loss_cost_segments(rate_mbps, rtt_ms):
    """Segments that one loss costs on a path without a queue."""
    # BEGIN SOLUTION
    window = rate_mbps * rtt_ms * 1000 / 8 / 1514
    return window**2 / 8
    # END SOLUTION


# %% id="cost-check"
chapter.check.cost(loss_cost_segments)

# %% [markdown] id="cost-run-text"
# Now measure it: 30 s over 5, 10 and 20 Mbit/s with a queue of two packets. The table counts the losses, the segments sent between two, and those that the link could have carried more: the cost. (Column `c` is for part 6.)

# %% id="cost-run"
short = {rate_mbps: path(rate_mbps, 20, queue_packets=2) for rate_mbps in (5, 10, 20)}
by_rate = nl.sweep({r: nl.Scenario(short[r], [reno], 30, interval_s=0.02) for r in short})
losses = experiments.loss_table(by_rate)
price = chapter.check.cost.take(loss_cost_segments, experiments.cost_segments)
losses["cost, theory"] = [price(rate, 40) for rate in by_rate]
shown = losses.drop(columns="s between").round(2)
print(shown.to_string(index=False, col_space={"cost": 7, "c": 5}))
cost_guess.compare(losses["cost"][1], theory=price(10, 40))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# The triangle is theory's 136 segments, and the measured cost is 167. So my picture gives four fifths of the cost, and something else costs about
# 30 segments, one window. Perhaps the window climbs above the BDP before it is halved.
#
# Rubric:
#
# - compares the number with theory's 136 and the measured 167;
# - the climb of half a window in half a window of round trips, or what the prediction took in its place;
# - says that the triangle of the BDP is too small, and by how much; a reason for it may be a guess.
# <!-- END SOLUTION -->

# %% [markdown] id="cost-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Twice the rate costs [[three to four times = (losses["cost"] / losses["cost"].shift()).iloc[1:].between(3, 4).all()]] as much, near the four that the square gives. But [[each loss costs more = bool((losses["cost"] > losses["cost, theory"]).all())]] than theory says. The formula takes
# the BDP for $W$, but the window at a loss lies [[2 to 5 segments = (losses["W at a loss"] - losses["BDP"]).between(2, 5).all()]] above the BDP, and with it the formula gives the cost [[within a tenth = float(abs(8 * losses["cost"] / losses["W at a loss"] ** 2 - 1).max()) | 0 .. 0.105]].
#
# </details>
#
# ## Part 3: make a loss free
#
# In part 1 the link was [[busy all the time = watched.intervals.query("flow == 'h1-h3 reno' and 2 < t_s < 10")["goodput_mbps"].mean() / 9.564 | 0.998 .. 1]] from slow start to the burst, although the window was halved every [[2.3 = (lambda t: (t[-1] - t[0]) / (len(t) - 1))([t for t in chapter.settings.loss_times_s(watched) if 2 < t < 10]) | .1f]] s. The queue was the reserve.
#
# ### Exercise 2: design a sawtooth
#
# Your path has [[rate_mbps]] Mbit/s and [[delay_ms]] ms each way. Choose its queue so that a tooth of Reno lasts **[[tooth_s]] s** (within 20 %). Think first: how high does the window get, how many
# round trips is the climb, and how long are they while packets wait? Then run one flow from `h1` to `h3` for 40 s or more, its window read every 0.05 s or more often. Keep
# what `nl.run` returns.

# %% id="sawtooth"
my_run = ...
# BEGIN SOLUTION NO PROMPT
# The busy link sends the 3/8 W**2 segments of a tooth without a pause.
my_frame_s = 1514 * 8 / (own.rate_mbps * 1e6)
my_window = (own.tooth_s / my_frame_s * 8 / 3) ** 0.5
my_queue_packets = round(my_window - 2 * own.delay_ms / 1000 / my_frame_s)
my_path = path(own.rate_mbps, own.delay_ms, my_queue_packets)
my_run = nl.run(my_path, [reno], duration_s=60, interval_s=0.02)
# END SOLUTION

# %% id="sawtooth-check"
chapter.check.sawtooth(my_run)

# %% [markdown] id="free-text"
# ### Exercise 3: the smallest queue that makes a loss free
#
# Find the smallest queue, in packets, with which a halved window still fills your path ([[rate_mbps]] Mbit/s, [[delay_ms]] ms each way).
# You may try four queues: `print(trial(20))` runs Reno for 30 s and says how much of the link it used.
# Tolerance: [[tolerance]].

# %% id="free"
trial = chapter.settings.QueueTrials(own.rate_mbps, own.delay_ms, at_most=4)

# BEGIN SOLUTION NO PROMPT
print(trial(40))
# END SOLUTION
least_queue_packets = own.rate_mbps * 2 * own.delay_ms * 1000 / 8 / 1514  # SOLUTION

# %% id="free-check"
chapter.check.free(least_queue_packets)

# %% [markdown] id="four-text"
# ## Part 4: four ways to answer a loss
#
# - **Tahoe** (1988) retransmits fast, and then always begins again with a window of one.
# - **Reno** (1990) has fast recovery.
# - **CUBIC** (Linux's own choice) leaves 0.7 of the window, not 0.5. Then it climbs along a cubic curve by the clock, not by round trips.
# - **BBR** (version 1, which Linux has) does not steer by losses. It measures the rate at which data arrive and the shortest round trip, and sends at that rate.
#
# All four, on the path of part 1, with the burst at 10 s. Which one keeps the link fullest, and which one the queue shortest?


# %% id="four" tags=["figure"]
def beside_burst(control, network, start_s=0):
    """A scenario of one flow with this congestion control, and the burst at 10 s."""
    flow = nl.Tcp("h1", "h3", congestion=control, start_s=start_s)
    return nl.Scenario(network, [flow, burst], duration_s=15, interval_s=0.02)


controls = ("tahoe", "reno", "cubic", "bbr")
four = nl.sweep({control: beside_burst(control, network) for control in controls})
plots.windows_figure(
    four, rate_mbps=10, rtt_ms=40, queue_packets=33, title="Four congestion controls, one path"
)

# %% [markdown] id="four-why"
# <details><summary><b>What we see</b> (Open it when you have an answer of your own.)</summary>
#
# One run each ([six other starts](#Optional:-six-other-starts)). From 5 to 10 s [[only Tahoe leaves the link idle = bool((experiments.summary(four)["goodput (Mbit/s)"].iloc[0] < 9.2) and (experiments.summary(four)["goodput (Mbit/s)"].iloc[1:] > 9.4).all())]], once a tooth. But look at
# the mean round trip: [[64 = experiments.summary(four).loc["reno", "mean RTT (ms)"] | .0f]] ms with Reno, [[73 = experiments.summary(four).loc["cubic", "mean RTT (ms)"] | .0f]] with CUBIC, and [[48 = experiments.summary(four).loc["bbr", "mean RTT (ms)"] | .0f]] with BBR: its window is only a safety limit, it *paces* its segments.
#
# </details>

# %% [markdown] id="changed-text"
# ### Change one thing
#
# The queue shrinks to 5 packets. Which control loses most, and which next to nothing? Say why, then run the cell (Mbit/s from 5 to 10 s). Try other numbers.

# %% id="changed"
changed_queue_packets = 5
shorter = path(10, 20, changed_queue_packets)
changed = nl.sweep({control: beside_burst(control, shorter) for control in controls})
for packets, runs in [(33, four), (changed_queue_packets, changed)]:
    got = experiments.summary(runs)["goodput (Mbit/s)"].round(2).to_dict()
    print(f"{packets} packets: {got}")

# %% [markdown] id="stall-text"
# ## Part 5: many losses at once
#
# Lab 1 of ECE 6110, CAD for Communication Networks (`ece6110`), compared Tahoe and Reno in a simulator: links of 5, 1 and 5 Mbit/s with 10,
# 20 and 10 ms, one flow. It found Reno worse in two settings. Here is one, in Linux: window and queue
# of 64 000 bytes, segments of 128. *Selective acknowledgements* (SACK), with which a receiver lists what it has beyond a gap, are off:
# neither Tahoe nor Reno had them.


# %% id="stall" tags=["figure"]
def both(window_bytes, queue_bytes, mss_bytes, sack=0, interval_s=0.5):
    """A scenario: 15 s of Tahoe, a pause, then 15 s of Reno, without segmentation offload."""
    sizes = {"window_bytes": window_bytes, "mss_bytes": mss_bytes, "duration_s": 15}
    tahoe = nl.Tcp("h1", "h2", congestion="tahoe", start_s=0.5, **sizes)
    reno = nl.Tcp("h1", "h2", congestion="reno", start_s=20, **sizes)
    traffic = [nl.Command("h1", "ip link set dev h1-eth0 gso_max_segs 1"), tahoe, reno]
    more = {"interval_s": interval_s, "sysctls": {"net.ipv4.tcp_sack": sack}}
    return nl.Scenario(nl.topologies.slow_middle(queue_bytes), traffic, 35.5, **more)


stall = nl.run(both(64_000, 64_000, 128, interval_s=0.1))
limit_mbps = nl.theory.tcp_goodput_limit_mbps(1, mss_bytes=128)
plots.stall_figure(stall, {"tahoe": 0.5, "reno": 20}, limit_mbps, title="15 s of each control")

# %% id="stall-table" tags=["folded"]
repairs = stall.flows.dropna(subset="congestion").set_index("congestion")
repairs = repairs[["goodput_mbps", "retransmits", "timeouts", "rtt_min_ms"]]
print(repairs.round(2).rename_axis(None).to_string())

# %% [markdown] id="stall-words"
# ### Exercise 4: explain it
#
# Why does Reno nearly stop for ten seconds, while the older Tahoe does not? Say what happens at the end of slow start, how each of the
# two repairs it, and which numbers of the table show it. Four to six sentences.
# <!-- BEGIN SOLUTION -->
# Slow start doubles the window in each round trip, so when the queue overflows, about a hundred segments of one window are lost. Reno
# goes on with half of its window and repairs: without SACK it learns of the next gap only when the repair of the last one has been
# acknowledged, so it repairs one segment in each round trip. 112 retransmissions in round trips of 82 ms and more take more than nine
# seconds, and that is the pause. No timeout is counted, so timers are not the reason. Tahoe forgets what is in flight and
# sends everything after the first gap again, from a window of one, doubling: 366 retransmissions, many of them needless, but within two
# seconds.
#
# Rubric:
#
# - names that many segments of one window are lost at the end of slow start, because of the doubling;
# - says that Reno (without SACK) repairs one segment in each round trip and checks it by retransmits times RTT, or that Tahoe resends all;
# - uses the zero in the column of timeouts, or another number of the table, against a rival explanation.
# <!-- END SOLUTION -->

# %% [markdown] id="sack-text"
# If you are right, what must SACK change?

# %% id="sack"
with_sack = nl.run(both(64_000, 64_000, 128, sack=1, interval_s=0.1))
sack_mbps = with_sack.flows.dropna(subset="congestion").set_index("congestion")["goodput_mbps"]
print("Goodput with SACK in Mbit/s:", sack_mbps.round(2).to_dict())

# %% [markdown] id="sack-why"
# With SACK the sender sees all gaps at once, [[the pause is gone = bool(sack_mbps["reno"] > 0.6)]], and Reno is [[no longer behind = bool(sack_mbps["reno"] >= sack_mbps["tahoe"])]].
#
# ## Part 6: loss rate and goodput
#
# A famous formula follows from the sawtooth. From one loss to the next a sender without a queue delivers $\frac38 W^2$ segments, the
# area under the tooth. One is lost, so $p = 8 / (3 W^2)$. The mean window is $\frac34 W$. Together:
#
# $$\text{goodput} = \frac{M}{T} \cdot \frac{c}{\sqrt p}, \qquad c = \sqrt{3/2} = 1.22$$
#
# This is the *square-root formula* (Mathis and others, 1997) for *periodic* losses, one at the top of each tooth. In part 2
# `c` is [[5 to 13 % below 1.22 = bool((1 - losses["c"] / 1.2247).between(0.045, 0.13).all())]]. Why? Compare `sent between` with $\frac38 W^2$ of `W at a loss`.
#
# <details><summary><b>Our answer</b> (Open it when you have yours.)</summary>
#
# From loss to loss [[1.1 to 1.3 times = (losses["sent between"] / (3 / 8 * losses["W at a loss"] ** 2)).between(1.1, 1.3).all()]] as many segments are sent as a tooth has, because a round trip passes until the sender hears of a loss, and another one until it is
# repaired. With so many between losses, $c$ agrees with the formula [[within 3 % = float((losses["c"] * (losses["sent between"] / (3 / 8 * losses["W at a loss"] ** 2)) ** 0.5 / 1.2247 - 1).abs().max()) | 0 .. 0.03]].
#
# </details>
#
# If each packet is lost with probability $p$, some teeth end early and some grow tall, and the tall ones send
# much. Then $c = 1.31$ (Ott and others, 1996). And if $p$ is large, the window is so small that three duplicate ACKs often cannot come:
# the sender must wait for timeouts. PFTK (Padhye and others, 1998) adds these.
#
# We run Reno under random loss over 100 Mbit/s and 40 ms. Eight to ten flows at once do not fill the link, so each is an independent draw.
# BBR has five seeds. Bars are 95 % intervals.

# %% id="random" tags=["figure"]
duration_s = nl.run_length_s(45, real_s=12)  # virtual time, or real time
bbr = nl.Tcp("h1", "h3", congestion="bbr")
lossy = {p: path(100, 20, 1000, loss_rate=p) for p in (0.002, 0.005, 0.01, 0.03, 0.1)}
flows = {p: [reno] * (10 if p > 0.002 else 8) for p in lossy}
by_reno = {p: nl.Scenario(lossy[p], flows[p], duration_s, interval_s=0.5) for p in lossy}
by_bbr = {p: nl.Scenario(lossy[p], [bbr], 4) for p in lossy}
random = experiments.random_table(nl.sweep(by_reno), nl.repeat(by_bbr, seeds=5))
plots.losses_figure(random, title="Reno and its formulas under random loss")

# %% [markdown] id="random-why"
# <details><summary><b>Where does each formula stop?</b></summary>
#
# Up to 0.01 the constant `c` is about [[1.2 = random["c"].iloc[:3].mean() | .1f]].
# At 0.03 and 0.1 the formula with 1.31 is too high, [[by a tenth to a third = bool((1.31 / random["c"].iloc[3:]).between(1.07, 1.36).all())]], although a flow has [[six timeouts in 45 s or fewer = float(random["timeouts"].max()) | 3 .. 6.5]].
# PFTK is too low there, [[by a quarter to nearly a half = bool((1 - random["pftk_mbps"] / random["reno_mbps"]).iloc[3:].between(0.2, 0.5).all())]].
#
# </details>
#
# BBR lies [[ten times above Reno, or more = float(((random["bbr_mbps"] - random["half_bbr_mbps"]) / (random["reno_mbps"] + random["half_mbps"])).min()) | 10 .. 20]]: version 1 does not take a loss for congestion. (Version 2 slows down above 2 %; Linux does not have it.)
#
# ### Exercise 5: compare the formula with your own runs
#
# `random_loss` is one Reno flow over a round trip of [[lossy_ms]] ms with [[lost_per_thousand]] of 1000 packets lost at random. A colleague says: "On average it gets more than [[stated_mbps]] Mbit/s." What does the formula say, with
# $c = 1.31$ and $T$ of the empty path?
# First write `my_refutation`, a condition in quotes such as `"low > 1 and high < 2"`: where must the edges `low` and `high` of an interval lie to refute the colleague? Then three lines: `my_table` of `nl.repeat` with
# 8 to 30 seeds in a row, `my_interval` of its goodputs, and `my_verdict`: is the statement `"supported"`, `"refuted"` or `"undecided"` (the interval holds the number)?

# %% id="repeated"
lossy_path = path(100, own.lossy_ms / 2, 1000, own.lost_per_thousand / 1000)
random_loss = nl.Scenario(lossy_path, [reno], duration_s=nl.run_length_s(45, real_s=12))
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"high < {own.stated_mbps}"
my_table = nl.repeat(random_loss, seeds=10)
my_interval = nl.interval(my_table["goodput_mbps"])
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

# %% [markdown] id="summary"
# ## Summary
#
# 1. A loss halves Reno's window $W$, and it takes $W/2$ round trips to climb back: one lost packet costs $W^2/8$ others, unless a queue
#    of one BDP fills the gap.
# 2. When many segments of one window are lost, Reno needs SACK: without it, it repairs one segment in each round trip.
# 3. Under random loss goodput is proportional to $1/\sqrt p$ and to $1/T$. Up to 10 % loss the formula with 1.31 is too high, but by a half at most (here and in the chapter on TCP beside UDP); from
#    30 to 40 % on timeouts decide.

# %% [markdown] id="claims-text"
# ### What the published assignment says, beside ours
#
# `ece6110` prints bars without numbers, and states what they show. The next cell runs the settings that it speaks of.
#
# | the assignment says | here |
# |---|---|
# | Tahoe, window 64 000, segments of 128: goodput rises with the queue, but not up to the largest | [[it rises up to the largest = bool(stated.query("window == 64000")["tahoe"].is_monotonic_increasing)]] |
# | Reno is worse in two settings: window, queue, segment (8000, 2000, 128) and (64 000, 64 000, 128) | it is, and with window 64 000 and segment 128 it is [[worse at each queue = bool((stated.query("window == 64000")["reno"] < 0.6 * stated.query("window == 64000")["tahoe"]).all() and (stated.query("window == 8000 and queue == 2000")["reno"] < 0.9 * stated.query("window == 8000 and queue == 2000")["tahoe"]).all())]] |
#

# %% id="claims"
sizes_bytes = [(64_000, queue_bytes, 128) for queue_bytes in (2_000, 8_000, 32_000, 64_000)]
windows_bytes, segments_bytes = (2_000, 8_000, 32_000), (128, 512)
sizes_bytes += [(window, 64_000, mss) for window in windows_bytes for mss in segments_bytes]
sizes_bytes += [(2_000, 2_000, 128), (8_000, 2_000, 128)]
stated_runs = nl.sweep({sizes: both(*sizes) for sizes in sorted(sizes_bytes)})
stated = experiments.stated_table(stated_runs)
print("Goodput in Mbit/s; window, queue and segment in bytes")
print(stated.round(2).to_string(index=False, col_space=6))

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# One flow, 12 s, 10 Mbit/s.
#
# 1. Find the smallest queue that keeps CUBIC above 99 % at 20 ms. By which factor is it smaller than Reno's?
# 2. Give BBR, then Reno, a queue of 5 packets. Which of the two needs a longer queue?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="live-text"
# ## Optional: change the path under a running flow
#
# The window fits the path that it has met. **How long does it take until it fits another one?** One Reno flow over the path of part 1 has run
# for 10 s. Press *Play*, move a slider while it runs, and *Pause* when you want to look; every change is marked. *Slower* helps to see quick changes.
#
# - *Try*: set the rate to 5 Mbit/s. When the curves are regular again, set it to 50. Then, at 10, set a loss rate of 0.01.
# - *Look for*: after which of the two changes of the rate is the link soon full again, and after which does it stay half empty for seconds? What does the
#   queue do meanwhile? With random losses, does the window ever meet the queue?

# %% id="live" tags=["nbval-ignore-output", "figure"]
nl.widgets.live(
    path(rate_mbps=10, delay_ms=20, queue_packets=33),
    [nl.Tcp("h1", "h3", congestion="reno")],
    {
        ("r1", "h3"): {
            "rate_mbps": (1, 50),
            "delay_ms": (0, 100),
            "loss_rate": (0, 0.05),
            "queue_packets": (1, 200),
        }
    },
    pace=5,
)

# %% [markdown] id="starts-text"
# ## Optional: six other starts
#
# Part 4 has one run of each control. Does its order depend on the moment at which the flow begins?

# %% id="starts"
starts_s = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
later = nl.sweep({(c, s): beside_burst(c, network, s) for c in controls for s in starts_s})
by_control = {
    c: experiments.summary({s: later[c, s] for s in starts_s}).iloc[:, :2] for c in controls
}
for control, table in by_control.items():
    mbps, rtt_ms = (nl.interval(table[name]) for name in table)
    print(f"{control}: {mbps:.2f} Mbit/s, mean RTT {rtt_ms:.0f} ms")

# %% [markdown] id="starts-why"
# It does not. [[In all six = bool(all((by_control["tahoe"].iloc[:, 0] < by_control[c].iloc[:, 0]).all() for c in ("reno", "cubic", "bbr")) and (by_control["bbr"].iloc[:, 1] < by_control["reno"].iloc[:, 1]).all() and (by_control["reno"].iloc[:, 1] < by_control["cubic"].iloc[:, 1]).all())]] Tahoe has the least goodput, and the mean round trip is shorter with BBR and longer with CUBIC than with Reno.

# %% [markdown] id="buffers-text"
# ## Optional: BBR beside CUBIC, by the size of the queue
#
# One flow of BBR and one of CUBIC share the path of part 1. Which of them gets more behind a queue of 8, 33, 130 and 400 packets? Write down your four guesses, and why,
# then run the cell. It makes five runs of each, with other starting moments.


# %% id="buffers"
def bbr_beside_cubic(queue_packets, seed):
    """A scenario: BBR from h1 and CUBIC from h2 for a minute."""
    starts_s = np.random.default_rng(seed).uniform(0, 2, 2)
    bbr = nl.Tcp("h1", "h3", congestion="bbr", start_s=starts_s[0])
    cubic = nl.Tcp("h2", "h3", congestion="cubic", start_s=starts_s[1])
    return nl.Scenario(path(10, 20, queue_packets), [bbr, cubic], 60, interval_s=1, seed=seed)


rooms_packets = (8, 33, 130, 400)
cases = [(room, seed) for room in rooms_packets for seed in (1, 2, 3, 4, 5)]
beside = nl.sweep({case: bbr_beside_cubic(*case) for case in cases})
shares = {case: run.goodput_mbps(after_s=20).tolist() for case, run in beside.items()}
bbr_mbps = {}
for room in rooms_packets:
    both_mbps = zip(*(shares[room, seed] for seed in (1, 2, 3, 4, 5)))
    bbr_mbps[room], cubic_mbps = (nl.interval(values) for values in both_mbps)
    print(f"{room:3} packets: BBR {bbr_mbps[room]}, CUBIC {cubic_mbps} Mbit/s")

# %% [markdown] id="buffers-why"
# <details><summary><b>Why?</b> (Open it when you have an answer of your own.)</summary>
#
# Behind 8 packets BBR has [[nine tenths of the link = bbr_mbps[8].mean / 9.56 | 0.9 .. 0.96]]. CUBIC gives up three tenths of its window at each loss, and in a short queue losses come often; version 1 of BBR does not slow down for a loss. Behind 400 packets
# it has [[a third = bbr_mbps[400].mean / 9.56 | 0.25 .. 0.4]]. A long queue rarely overflows, so CUBIC keeps it full, and BBR lets at most two bandwidth-delay products be in flight, whatever its queue (R. Ware and others, 2019). So neither is "the more aggressive one":
# it depends on the queue.
#
# </details>

# %% [markdown] id="ten-text"
# ## Optional: ten flows, and luck
#
# Part III of `ece6110` let ten equal flows share the slow link, each started at a random moment of the first 0.1 s. It made one run for each
# control, found very unequal shares, and asked in its conclusion for more draws. Here are eight for each: window and queue of 64 000 bytes,
# segments of 512 bytes.


# %% id="ten"
def ten_flows(control):
    """A scenario: eight times ten equal flows that start within 0.1 s, every 25 s."""
    chance = np.random.default_rng(1)
    starts_s = np.concatenate([25 * draw + chance.uniform(0, 0.1, 10) for draw in range(8)])
    sizes = {"window_bytes": 64_000, "mss_bytes": 512, "duration_s": 20}
    flows = [nl.Tcp("h1", "h2", congestion=control, start_s=s, **sizes) for s in starts_s]
    return nl.Scenario(nl.topologies.slow_middle(64_000), flows, 200, interval_s=1)


ten_runs = nl.sweep({control: ten_flows(control) for control in ("tahoe", "reno")})
ten = experiments.ten_table(ten_runs)
print("Means of eight draws, goodput in Mbit/s; Jain's index 1: all equal")
ten_means = ten.groupby("control")[["together", "least", "most", "Jain"]].mean()
ten_means["std of Jain"] = ten.groupby("control")["Jain"].std()
print(ten_means.round(3).rename_axis(None).to_string())

# %% [markdown] id="ten-why"
# The sum hardly varies: the link is [[full = float(ten["together"].min() / (512 / 578)) | 0.99 .. 1.03]]. In a typical draw the luckiest flow gets [[about twice = bool((ten["most"] / ten["least"]).groupby(ten["control"]).mean().between(1.7, 2.6).all())]] as much as the unluckiest. Tahoe's shares are a
# little more equal: the index is [[0.97 = nl.interval(ten[ten["control"] == "tahoe"]["Jain"]).mean | .2f]] against [[0.94 = nl.interval(ten[ten["control"] == "reno"]["Jain"]).mean | .2f]], and [[the interval of the difference does not hold 0 = nl.interval(ten[ten["control"] == "tahoe"]["Jain"], ten[ten["control"] == "reno"]["Jain"]).mean > nl.interval(ten[ten["control"] == "tahoe"]["Jain"], ten[ten["control"] == "reno"]["Jain"]).half_width]]. One draw of each could
# have shown the opposite: the index varies by [[about 0.02 = ten.groupby("control")["Jain"].std().max() | 0.01 .. 0.025]] from draw to draw.
#
# Luck needs losses. If all ten windows together fit into path (10 000 bytes) and queue (64 000), nothing is lost, and all are equal:
# $74\,000 / 10 \cdot 512 / 578 = 6555$ bytes of data, or 12.8 segments, for each.


# %% id="ten-windows"
def ten_windows(before=()):
    """A scenario: ten Reno flows at a time with windows of 12, 13, 14 and 16 segments."""
    step_s, send_s = nl.run_length_s(30, real_s=12), nl.run_length_s(25, real_s=10)
    flows = []
    for place, segments in enumerate((12, 13, 14, 16)):
        sizes = {"window_bytes": 512 * segments, "mss_bytes": 512, "duration_s": send_s}
        flows += [nl.Tcp("h1", "h2", congestion="reno", start_s=step_s * place, **sizes)] * 10
    middle = nl.topologies.slow_middle(64_000)
    return nl.Scenario(middle, [*before, *flows], 4 * step_s, interval_s=1)


frame_by_frame = nl.Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
change_each = "ip route | while read route; do ip route change $route quickack 1; done"
at_once = ten_windows([frame_by_frame, nl.Command("h2", change_each)])
narrow_runs = nl.sweep({"delayed": ten_windows(), "each": at_once})
narrow = experiments.windows_table(narrow_runs, [12, 13, 14, 16])
print(
    "Goodput in Mbit/s of the unluckiest and the luckiest of ten flows,\n"
    "by their windows, with delayed ACKs and with an ACK of each segment"
)
print(narrow.round(3).to_string(index=False))

# %% [markdown] id="ten-windows-why"
# With thirteen segments, 75 140 bytes, nothing is lost yet: 1140 more than the rule allows. 900 of them follow from the time that a segment itself needs on three links: the
# empty round trip is 87.2 ms, not 80, so the path holds 10 900 bytes. 240 bytes are left, less than half a segment. *Delayed ACKs* (one
# for two segments) are not the reason: with each segment acknowledged at once [[13 pass and 14 do not = all(bool(narrow[f"{name}: most"][place] / narrow[f"{name}: least"][place] < 1.05) == (place < 2) for name in ("delayed", "each") for place in range(3))]], just the same.
#
# ## Open exercises
#
# 1. Give the path of part 1 a queue of 200 packets. What does a loss cost now, and who pays? (*Bufferbloat* is the word for it.)
# 2. Two flows of BBR share the path of part 1, and one starts 10 s after the other. Then two of Reno. Who gets what, and after how long?
# 3. Redo part 6 with CUBIC at round trips of 40 and 200 ms. Where does it leave Reno's line? (RFC 9438, section 4.3, says when.)
# 4. **Challenge.** Write `phase(cwnd, ssthresh, retransmits)`, which names the phases from these three series alone, and compare with what the
#    kernel says (`ca_state` in `run.intervals`). Where can it not tell?
#
# ### Reading
#
# - V. Jacobson, *Congestion Avoidance and Control*, ACM SIGCOMM, 1988. Slow start and Tahoe, with figures worth looking at.
# - M. Allman, V. Paxson, E. Blanton, *TCP Congestion Control*, RFC 5681, 2009; T. Henderson and others, *NewReno*, RFC 6582, 2012: one repair in
#   each round trip.
# - M. Mathis and others, *TCP Selective Acknowledgment Options*, RFC 2018, 1996.
# - L. Xu and others, *CUBIC for Fast and Long-Distance Networks*, RFC 9438, 2023.
# - N. Cardwell and others, *BBR: Congestion-Based Congestion Control*, ACM Queue 14(5), 2016.
# - R. Ware, M. Mukerjee, S. Seshan, J. Sherry, *Modeling BBR's Interactions with Loss-Based Congestion Control*, ACM IMC, 2019.
# - M. Mathis, J. Semke, J. Mahdavi, T. Ott, *The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm*, ACM CCR 27(3), 1997;
#   T. Ott, J. Kemperman, M. Mathis, *The Stationary Behavior of Ideal TCP Congestion Avoidance*, 1996.
# - J. Padhye, V. Firoiu, D. Towsley, J. Kurose, *Modeling TCP Throughput*, ACM SIGCOMM, 1998.
# - S. Floyd, *HighSpeed TCP for Large Congestion Windows*, RFC 3649, 2003. To fill 10 Gbit/s over 100 ms Reno may lose one packet
#   in five thousand million, "an unrealistic constraint".
# - G. Appenzeller, I. Keslassy, N. McKeown, *Sizing Router Buffers*, ACM SIGCOMM, 2004. The rule of part 3, and why many flows need less.
#
# ## Limits
#
# All this ran through Linux's own TCP. Linux is not the textbook: it reduces its window bit by bit during recovery (RFC 9937), judges losses by time as well
# and probes before a timeout (RACK and TLP, RFC 8985), and begins with 10 segments. Tahoe is netlab's own, since Linux has none. Losses came from drop-tail queues or from
# chance alone; on real paths they come in clusters. `ece6110` used the simulator ns-3 and does not give all of its settings.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = watched.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
