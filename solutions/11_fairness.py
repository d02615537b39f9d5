# %% [markdown] id="title"
# # Fair by which measure?
#
# **Two flows share a link. Which one gets more, and by which measure is that fair?**
#
# After this chapter you can
#
# 1. say what distance costs a TCP flow, and why the answer depends on which flows notice a loss;
# 2. tell max-min, proportional and TCP's own fairness apart, with measurements and their intervals;
# 3. make a network fair, whatever its senders do.
#
# *Time*: [[minutes]] minutes. *Builds on*: Congestion control; Multiplexing. *Runs on*: any machine on which the
# next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
from itertools import product

import numpy as np

import netlab as nl
from netlab_course.chapters import fairness
from netlab_course.chapters.fairness import experiments

chapter = fairness.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# - `h1` and `h2` send to `h3` with TCP Reno, over one link of 5 Mbit/s. From `h1` the round-trip time is 800 ms, from
#   `h2` it is 300 ms, when the queue is empty. How many Mbit/s does `h1` get?
# - One flow crosses two links of 5 Mbit/s, one after the other. On each of the links there is one other flow. All three
#   have the same round-trip time. How many Mbit/s does the flow over both links get?

# %% id="predict"
my_far_mbps = 1.3  # SOLUTION
my_long_mbps = 2.5  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "Each link is shared by two flows, so half of 5 Mbit/s."
# END SOLUTION

far_prediction = nl.checks.predict("far flow", my_far_mbps, unit="Mbit/s", low=0, high=5)
long_prediction = nl.checks.predict(
    "flow over both links", my_long_mbps, unit="Mbit/s", low=0, high=5, reason=my_reason
)

# %% [markdown] id="network-text"
# ## Part 1: what distance costs
#
# The network and the published results come from `epfl`: lab 5 of *TCP/IP Networking*, EPFL, 2021. The delay is on
# the way back: the acknowledgements to `h1` are delayed by 800 ms, those to `h2` by 300 ms.


# %% id="network" tags=["figure"]
unlimited = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}


def two_distances(far_ms, near_ms, **queue):
    """h1 (far) and h2 (near) share the link to h3; their delays are on the way back."""
    slow = nl.Link("r1", "h3", rate_mbps=5, **queue, reverse=unlimited)
    far = nl.Link("h1", "r1", reverse={"delay_ms": far_ms})
    near = nl.Link("h2", "r1", reverse={"delay_ms": near_ms})
    return nl.Topology(["h1", "h2", "h3"], ["r1"], links=[far, near, slow])


network = two_distances(800, 300, queue_packets=100)
nl.plots.topology(network, title="A far and a near sender share one link")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $T$ | `rtt_ms` | ms (in formulas s) | round-trip time, queueing included |
# | $G$ | `goodput_mbps` | Mbit/s | application data that arrives, each byte once |
# | $W$ | `cwnd_segments` | segments | window: data in flight without acknowledgement |
# | $p$ | `loss_rate` | fraction | packets lost / packets sent |
# | $n$ | `losses_per_s` | 1/s | how often a flow notices a loss |
# | $e$ | `exponent` | | how much distance costs: $G$ is proportional to $T^{-e}$ |

# %% [markdown] id="balance"
# ### Growth and losses in balance
#
# Reno is **AIMD**: additive increase, multiplicative decrease. Each round-trip time adds one segment to the window,
# so it grows by $1/T$ a second. Each loss takes half of the window. A flow that notices $n$ losses a second is in balance when
#
# $$\frac{1}{T} = n\,\frac{W}{2}, \qquad\text{so}\qquad W = \frac{2}{nT} \quad\text{and}\quad G \propto \frac{W}{T} \propto \frac{1}{n\,T^2}.$$
#
# There are two clear cases.
#
# - **Synchronized losses**: both flows lose packets at the same time, with the same $n$, so $G \propto 1/T^2$: $e = 2$.
# - **Random losses**: each packet is lost independently, with the same chance $p$. A flow that sends more loses more often, $n \propto p\,G$. Then
#   $G \propto 1/(p\,G\,T^2)$. Multiply by $G$ and take the root: $G \propto 1/(T\sqrt p)$, so $e = 1$. This is the square-root formula (chapter on congestion control).
#
# **CUBIC**, Linux's default, counts time, not round trips, so distance costs less. With synchronized losses $G \propto 1/T$: $e = 1$. With random losses
# $G \propto T^{-1/4} p^{-3/4}$: $e = \tfrac14$.
#
# This holds for long flows without timeouts, and for CUBIC on long paths only: on short ones it grows as Reno does.
#
# Two flows that fill a link share its limit in the ratio $G_\text{far}/G_\text{near} = (T_\text{near}/T_\text{far})^e$.

# %% [markdown] id="one-draw-text"
# ### One run
#
# Four minutes of network time with Reno and a **drop-tail** queue, which drops what finds no room. The first minute is left out of the means, because it includes slow start.

# %% id="one-draw" tags=["figure"]
reno = [nl.Tcp("h1", "h3", congestion="reno"), nl.Tcp("h2", "h3", congestion="reno")]
one_run = nl.run(network, reno, duration_s=nl.run_length_s(240, real_s=75), interval_s=1)
nl.plots.time_series(one_run, ("cwnd_segments",), interfaces=(), title="A far and a near flow")

# %% id="one-draw-compare" tags=["folded"]
share = experiments.theory_share_mbps
limit_mbps = nl.theory.tcp_goodput_limit_mbps(5)
far_mbps = one_run.goodput_mbps(after_s=60).iloc[0]
far_prediction.compare(far_mbps, theory=share(limit_mbps, 800, 300, 1))

# %% [markdown] id="many-text"
# The theory printed here is the published one: $e = 1$, a full link, no queueing. Look at
# the windows: which flows are cut when the queue is full?
#
# Four minutes hold few losses. So we make six runs for each of two senders
# and two queues, each with other starting moments and another seed. The second queue is a **gentle RED** (Random Early Detection): it drops
# packets at random, long before it is full, more of them the longer it is.


# %% id="draw"
def draw(network, pairs, sender, seed):
    """A scenario: a flow for each pair of hosts; each starts at a random moment."""
    starts_s = np.random.default_rng(seed).uniform(0, 10, len(pairs)).round(3)
    flows = [nl.Tcp(*pair, congestion=sender, start_s=s) for pair, s in zip(pairs, starts_s)]
    return nl.Scenario(network, flows, nl.run_length_s(240, real_s=26), seed, interval_s=1)


gentle_options = {"min_packets": 10, "max_packets": 90, "probability": 0.05}
gentle = {"queue_packets": 300, "aqm": "red", "aqm_options": gentle_options}
queues = {"drop-tail": {"queue_packets": 100}, "gentle RED": gentle}

# %% id="many" tags=["figure"]
two_pairs = [("h1", "h3"), ("h2", "h3")]
networks = {queue: two_distances(800, 300, **fields) for queue, fields in queues.items()}
scenarios = {  # 800: the far round trip in ms
    (sender, queue, 800, seed): draw(networks[queue], two_pairs, sender, seed)
    for sender, queue, seed in product(("reno", "cubic"), queues, range(1, 7))
}
found = experiments.distances(nl.sweep(scenarios))
experiments.parts_figure(found, share)

# %% id="many-table" tags=["folded"]
print(experiments.parts_table(found).to_string(index=False))

# %% [markdown] id="many-why"
# Two columns of the table say why: *cuts* and *queueing*.
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# *Cuts* is how often a loss cut the window, on average per run. With drop-tail the near flow sends [[two to five times = bool(found.query("queue == 'drop-tail'").groupby("congestion")[ ["far_mbps", "near_mbps", "far_reductions", "near_reductions", "near_rtt_ms"] ].mean().eval("near_mbps / far_mbps").between(2, 5).all())]] as much, and
# yet both are cut [[about equally often = bool(found.query("queue == 'drop-tail'").groupby("congestion")[ ["far_mbps", "near_mbps", "far_reductions", "near_reductions", "near_rtt_ms"] ].mean().eval("near_reductions / far_reductions").between(0.85, 1.2).all())]], as with synchronized losses. With the gentle RED Reno's near flow sends more and is cut more often, [[in proportion = float(found.query("queue == 'gentle RED'").groupby("congestion")[ ["far_mbps", "near_mbps", "far_reductions", "near_reductions", "near_rtt_ms"] ].mean().eval("near_reductions / far_reductions / near_mbps * far_mbps")["reno"]) | 0.8 .. 1.25]], as
# with random losses. CUBIC's near flow sends only [[a third more = float(found.query("queue == 'gentle RED'").groupby("congestion")[ ["far_mbps", "near_mbps", "far_reductions", "near_reductions", "near_rtt_ms"] ].mean().eval("near_mbps / far_mbps")["cubic"]) | 1.2 .. 1.45]] there. The exponents lie near the four of theory.
#
# *Queueing* is what the queue adds to the round-trip time, the same for both flows. Propagation alone is in the ratio
# 800 / 300 = 2.67. With drop-tail [[130 to 160 ms = bool((found.query("queue == 'drop-tail'").groupby("congestion")[ ["far_mbps", "near_mbps", "far_reductions", "near_reductions", "near_rtt_ms"] ].mean()["near_rtt_ms"] - 300).between(125, 165).all())]] of waiting make this ratio [[2.1 to 2.2 = bool((found.query("queue == 'drop-tail'").groupby("congestion")[ ["far_rtt_ms", "near_rtt_ms"] ].mean().eval("far_rtt_ms / near_rtt_ms")).between(2.05, 2.25).all())]]: a long queue makes distances more alike. So
# theory must use $T$ as it is under load, and the figure does.
#
# </details>

# %% [markdown] id="changed-text"
# ### Change one thing
#
# Reno, and a drop-tail queue of 400 packets in place of 100. Does the far flow get a larger part? Say it, then run the cell. Does $e = 2$ at the measured times explain it?

# %% id="changed"
changed_packets = 400
longer = two_distances(800, 300, queue_packets=changed_packets)
cases = [("reno", "longer", 800, seed) for seed in range(1, 7)]
scenarios = {case: draw(longer, two_pairs, "reno", case[-1]) for case in cases}
before = found.query("congestion == 'reno' and queue == 'drop-tail'")
after = experiments.distances(nl.sweep(scenarios))
for packets, rows in {100: before, changed_packets: after}.items():
    part, far_ms, near_ms = rows[["part", "far_rtt_ms", "near_rtt_ms"]].mean()
    theory = near_ms**2 / (far_ms**2 + near_ms**2)  # e = 2
    print(f"{packets}: far {part:.0%}, theory {theory:.0%}; {far_ms:.0f}, {near_ms:.0f} ms")

# %% [markdown] id="planned-text"
# ### Exercise 1: how many runs?
#
# `far_and_near` has two Reno flows behind the gentle RED, with [[far_ms]] and [[near_ms]] ms. Which part of both goodputs, in %, does the far one get, to ± [[half_percent]] %?
#
# 1. `my_pilot`: the table of six runs, seeds 1 to 6.
# 2. `my_planned`: the fewest runs with that half width, if they scatter like the pilot, with Student's factor of *all* runs (as in "How sure?"). Compute it: a grader draws other seeds.
# 3. `my_table` has that many runs, at most 16, and `my_interval` is the interval of their parts.
# 4. `my_verdict`: is the half width "reached" or "missed"?

# %% id="far-and-near"
my_network = two_distances(own.far_ms, own.near_ms, **gentle)
far_and_near = nl.Scenario(my_network, reno, duration_s=nl.run_length_s(60, real_s=30))

# %% id="planned"
my_pilot = my_planned = my_table = my_interval = my_verdict = ...
# BEGIN SOLUTION NO PROMPT


def far_percent(table):
    """The far flow's per cent of both goodputs, for each seed."""
    wide = table.pivot_table(index="seed", columns="src", values="goodput_mbps")
    return 100 * wide["h1"] / (wide["h1"] + wide["h2"])


my_pilot = nl.repeat(far_and_near, seeds=6)
my_scatter = far_percent(my_pilot).std()
my_planned = 2
while nl.theory.student_t(my_planned) * my_scatter / my_planned**0.5 > own.half_percent:
    my_planned += 1
my_table = nl.repeat(far_and_near, seeds=min(my_planned, 16))
my_interval = nl.interval(far_percent(my_table))
my_verdict = "reached" if my_interval.half_width <= own.half_percent else "missed"
print(f"scatter {my_scatter:.1f} %, planned {my_planned}: {my_interval:.1f} %, {my_verdict}")
# END SOLUTION
my_plan = [my_pilot, my_planned, my_table, my_interval, my_verdict]

# %% id="planned-check" tags=["minutes-10"]
chapter.check.planned(my_plan)

# %% [markdown] id="bottlenecks-text"
# ## Part 2: two bottlenecks
#
# Now the flow from `h1` to `h3` crosses two slow links. `h1` also sends to `h2` over the first, and `h2` to `h3` over the
# second. Each host delays what it sends by 150 ms, so every flow has 300 ms.


# %% id="crossing" tags=["figure"]
def crossing(rate_mbps, base_rtt_ms, h2_delay_ms=None, way_back=unlimited, **queue):
    """Two slow links in a row, with fields of their way back; hosts delay what they send."""
    half_ms = base_rtt_ms / 2
    slow = {"rate_mbps": rate_mbps, **queue}
    first = nl.Link("r1", "r2", **slow, reverse=way_back)
    second = nl.Link("r2", "h3", **slow, reverse=way_back | {"delay_ms": half_ms})
    h1 = nl.Link("h1", "r1", delay_ms=half_ms, reverse={"delay_ms": 0})
    h2_ms = half_ms if h2_delay_ms is None else h2_delay_ms
    h2 = nl.Link("h2", "r2", delay_ms=h2_ms, reverse={"delay_ms": 0})
    return nl.Topology(["h1", "h2", "h3"], ["r1", "r2"], links=[h1, first, h2, second])


two_links = crossing(rate_mbps=5, base_rtt_ms=300, **gentle)
nl.plots.topology(two_links, title="One flow over two slow links, one flow on each of them")

# %% [markdown] id="notions"
# How should they be shared? The long flow uses two links, a short flow one. Four answers:
#
# - **Max-min**: no flow can get more without taking from one that has as little or less. Here all three are equal.
# - **Proportional**: the sum of the logarithms is largest. The long flow pays for both links.
# - **Reno's own**: losses add up along the path, so the long flow has the loss rate $2p$ where a short one has $p$.
#   Put that into $G \propto 1/(T\sqrt p)$.
# - **CUBIC's own**: the same with CUBIC's formula for random losses, $G \propto T^{-1/4} p^{-3/4}$.
#
# The last two hold where each packet is lost independently, with the same chance. We call them the sender's own *optimum*.
#
# Theory for two links of 5 Mbit/s:

# %% id="notions-table" tags=["folded"]
print(experiments.allocations().round(2).to_string())

# %% [markdown] id="crossing-text"
# The fairer a notion is to the long flow, the less all three carry together. Which of these does TCP reach? Twenty draws
# for each sender.

# %% id="crossing-run" tags=["figure"]
pairs = [("h1", "h3"), ("h1", "h2"), ("h2", "h3")]
cases = list(product(("reno", "cubic"), range(1, 21)))
shared_runs = nl.sweep({case: draw(two_links, pairs, *case) for case in cases})
shared = experiments.crossings(shared_runs)
experiments.crossing_figure(shared)

# %% id="crossing-table" tags=["folded"]
long_prediction.compare(shared.loc[shared["congestion"] == "reno", "h1-h3"].mean())
print(experiments.crossing_table(shared).to_string(index=False))
ratios = {sender: nl.interval(rows["ratio"]) for sender, rows in shared.groupby("congestion")}

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# It gets 1.8 Mbit/s, and each short flow more. I expected equal shares, but Reno's share falls with the loss rate, and the long flow loses packets
# on both links. By the square-root formula, twice the loss rate leaves it $1 / \sqrt 2$ of what a short flow gets, so 41 % of each link. And the
# links carry 4.78 Mbit/s of data, not 5, and are not always full.
#
# Rubric:
#
# - compares the number with the measured 1.8 Mbit/s;
# - the long flow loses on both links, and Reno's goodput falls with the loss rate;
# - headers or idle time of the links for the rest (or a share computed from the square root).
# <!-- END SOLUTION -->

# %% [markdown] id="crossing-why"
# Compare the ratio of long to short, not the Mbit/s of the long flow: Reno's links are not full (about [[4.2 = shared.query("congestion == 'reno'").eval("(`h1-h2` + `h2-h3`) / 2 + `h1-h3`").mean() | .1f]] of 4.78 Mbit/s), and an
# idle part does not change the ratio. The short strokes in the figure are each sender's own optimum at the round-trip times under load:
# a little below the table's, because the long flow waits in two queues.

# %% [markdown] id="verdict-words" tags=["minutes-11"]
# ### Exercise 2: the verdict
#
# The published lab measured CUBIC once: 1.74 Mbit/s for the long flow, a ratio of 0.59. Its theory was proportional fairness:
# 1.67 Mbit/s (a third of 5), a ratio of 0.50. It answered "Yes" to the question whether theory and measurement correspond. Which of the four notions do our intervals allow for Reno, and which for CUBIC? Was the lab's "Yes" right? Write
# four or five sentences.
#
# <!-- BEGIN SOLUTION -->
# For Reno the interval (about 0.69 to 0.77) [[excludes proportional (0.50), CUBIC's own optimum (0.59) and max-min fairness (1) = abs(ratios["reno"].mean - 0.5) > ratios["reno"].half_width and abs(ratios["reno"].mean - 0.59) > ratios["reno"].half_width and abs(ratios["reno"].mean - 1) > ratios["reno"].half_width]].
# Reno's own optimum is nearest, but theory needs the round-trip times under load, and [[the stroke's 0.68 lies outside, by little = 0 < ratios["reno"].mean - ratios["reno"].half_width - experiments.own_ratio(shared.query("congestion == 'reno'"), "reno") < 0.02]]. ([[The table's 0.71 lies within = abs(ratios["reno"].mean - 0.71) <= ratios["reno"].half_width]]; it leaves queueing out.) So our intervals allow none of the four as it stands. For CUBIC the interval (about 0.50 to 0.57) excludes max-min fairness and [[Reno's optimum = abs(ratios["cubic"].mean - 0.71) > ratios["cubic"].half_width]]. It lies [[between proportional (0.50) and CUBIC's own optimum (0.59) = 0.5 < ratios["cubic"].mean < 0.59]]: near
# both, and [[the latter is outside = abs(ratios["cubic"].mean - 0.59) > ratios["cubic"].half_width]]. So the measurement does not show proportional fairness: the lab had one run and no interval, its ratio of 0.59 is as far from 0.50 as the two theories
# are from each other, and it compared Mbit/s (1.74 with 1.67) instead of the ratio. And CUBIC does not speak for TCP as such, because Reno does something else.
#
# Rubric:
#
# - uses the intervals: names for each sender what lies outside and so is excluded, and what lies within;
# - says that no theory is confirmed: CUBIC's interval lies between two of them, and Reno's holds 0.71 but not the 0.68 of the times under load ("none of the four" is right for Reno, and so is "its own optimum, if queueing is left out");
# - notes that one run without an interval, or one sender, cannot speak for "TCP".
# <!-- END SOLUTION -->

# %% [markdown] id="verdict-why"
# <details><summary><b>The verdict</b> (open it when you have written yours)</summary>
#
# Reno's interval excludes three of the notions, and its own optimum is near: the table's 0.71 is inside, the stroke's 0.68 just outside. CUBIC's lies between
# proportional fairness and its own optimum. The first ten draws alone give [[0.51 ± 0.04 = f"{nl.interval(shared[shared.congestion == 'cubic'].ratio[:10]):.2f}" | s]]: with these, proportional fairness
# would have seemed right. One run of 0.59 cannot tell 0.50 from 0.59.
#
# </details>
#
# ### A control run
#
# Is the senders' theory wrong, or its condition not met? It is for independent losses, but RED averages its queue and spaces its drops (Floyd and Jacobson, 1993). Take RED
# away: the same flows over fast links that lose 0.2 % at random. Nothing waits. Ten draws each.

# %% id="control"
wire = {"queue_packets": 5000, "loss_rate": 0.002, "way_back": unlimited | {"loss_rate": 0}}
losing = crossing(rate_mbps=200, base_rtt_ms=300, **wire)
cases = list(product(("reno", "cubic"), range(1, 11)))
control = experiments.crossings(nl.sweep({case: draw(losing, pairs, *case) for case in cases}))

# %% id="control-table" tags=["folded"]
for sender, rows in control.groupby("congestion"):
    theory = experiments.own_ratio(rows, sender)
    print(f"{sender}: long / short {nl.interval(rows['ratio']):.2f}, theory {theory:.2f}")

# %% [markdown] id="control-why"
# <details><summary><b>Is the theory wrong?</b> (Open it when you have an answer of your own.)</summary>
#
# Now [[both intervals hold the sender's own optimum = all(abs(nl.interval(rows["ratio"]).mean - experiments.own_ratio(rows, sender)) <= nl.interval(rows["ratio"]).half_width for sender, rows in control.groupby("congestion"))]], and [[both exclude proportional fairness and max-min = all(abs(nl.interval(rows["ratio"]).mean - other) > nl.interval(rows["ratio"]).half_width for _, rows in control.groupby("congestion") for other in (0.5, 1))]]. The formulas agree with the runs where their condition
# holds, so RED's losses are a likely reason. No more than that: the rate and the waiting changed, too.
#
# </details>

# %% [markdown] id="h2_delay-text"
# ### Exercise 3: equal by design
#
# Reno gives the long flow less. You may not touch senders or queues, but you may choose one delay, `h2_delay_ms`: the whole
# delay of all that `h2` sends. Both short flows pass it once in each round trip (one with its data, one with its
# acknowledgements), the long flow never does.
#
# Your network has a round-trip time of [[base_rtt_ms]] ms: each host delays what it sends by half of that. Which `h2_delay_ms`, in
# place of `h2`'s half, makes all three goodputs equal? Part 1 has Reno's formula for random losses. Leave queueing out. Compute it:
# single runs differ by 10 % by chance. Tolerance: [[tolerance]].

# %% id="h2_delay"
h2_delay_ms = (2**0.5 - 0.5) * own.base_rtt_ms  # SOLUTION

# %% id="h2_delay-check" tags=["minutes-12"]
chapter.check.h2_delay(h2_delay_ms)

# %% id="design-run"
delay_ms = chapter.check.h2_delay.take(h2_delay_ms, own.base_rtt_ms / 2)
slowed = crossing(own.rate_mbps, own.base_rtt_ms, h2_delay_ms=delay_ms, **gentle)
scenarios = {("reno", seed): draw(slowed, pairs, "reno", seed) for seed in range(1, 17)}
design = experiments.crossings(nl.sweep(scenarios))

# %% id="design-table" tags=["folded"]
mean, half = nl.interval(design["ratio"])
print(f"long / short: {mean:.2f} ± {half:.2f} (16 seeds)")
long_ms, short_ms = design["long_ms"].mean(), design["short_ms"].mean()
print(f"round-trip times under load: long {long_ms:.0f} ms, short {short_ms:.0f} ms")
print(f"Reno's own ratio at these times: {experiments.own_ratio(design, 'reno'):.2f}")

# %% [markdown] id="design-why"
# The cell ran Reno with your delay. (If your answer is wrong or missing, all delays are equal.) Does the interval of sixteen draws hold 1? Does it
# hold the ratio of the last line?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# With the right delay theory gives about 0.9 (the last line): your formula ignored queueing, and the long flow waits in two queues, the short ones in one. For the printed network [[it excludes 1 = bool(abs(nl.interval(design["ratio"]).mean - 1) > nl.interval(design["ratio"]).half_width)]] and [[holds 0.9 = bool(abs(nl.interval(design["ratio"]).mean - experiments.own_ratio(design, "reno")) <= nl.interval(design["ratio"]).half_width)]]: the design misses equality by what was left out, and theory says by how much.
#
# </details>
#
# ## Part 3: a queue that is fair
#
# So far the far and the long flow paid. A router can keep a queue for each flow and serve them
# in turn. If every flow is backlogged, this is max-min
# fair per flow, not per host: a host may open three flows.
#
# ### Exercise 4: a measurement of your own
#
# Show it. Build the network of part 2 with `crossing(...)`: both slow links [[rate_mbps]] Mbit/s, a
# round-trip time of [[base_rtt_ms]] ms. You choose their queue: `aqm=` is a discipline's name in quotes, as `aqm="fifo"`;
# `queue_packets=` is its room, a whole number: so large that a flow alone can keep its half of the link full. The disciplines `fq`, `sfq`, `fq_codel`, `fq_pie` and `cake`
# serve flows in turn; not all of them work with each congestion control.
#
# Send the three flows for 120 s at least, to the end of the run, with any congestion control and without `window_bytes`. Keep it as `my_run`. From 20 s on the three goodputs must lie within 15 % of the greatest, and both links must be 83 % full.

# %% id="fair_run"
my_run = ...
# BEGIN SOLUTION NO PROMPT
fair = crossing(own.rate_mbps, own.base_rtt_ms, queue_packets=300, aqm="fq")
three = [nl.Tcp(*pair) for pair in pairs]
my_run = nl.run(fair, three, duration_s=nl.run_length_s(120, real_s=60), interval_s=1)
print(my_run.goodput_mbps(after_s=20).round(2).to_string())
# END SOLUTION

# %% id="fair_run-check" tags=["minutes-12"]
chapter.check.fair_run(my_run)

# %% [markdown] id="summary"
# ## Summary
#
# Distance costs a TCP flow goodput as $T^{-e}$, and $e$ depends on the sender and on which flows notice a loss: 2 and 1 for
# Reno, 1 and ¼ for CUBIC, with synchronized and with random losses. Over several bottlenecks each sender has an optimum of its own, which is
# neither max-min nor proportional fairness, and only intervals show which of them a measurement allows. A queue for each
# flow gives max-min fairness whatever the senders do. No formula says what should be equal: flows, connections or hosts.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The panel is part 1: `h2` is 300 ms away. Each point is one run, a draw of four minutes. The dashed line is theory for the queue
# that you choose: `drop-tail` (synchronized), `gentle RED` (random) or `one for each flow` (equal parts). Thin lines are the other cases,
# dotted for synchronized and dash-dotted for random losses. Move a slider, and the experiment runs again.
#
# Take Reno, `drop-tail`, and `h1` 800 ms away. Take a room of 20, 100 and 300 packets, each with six draws or more. What does `h1` gain on average, how much
# do the draws differ, and what do both pay for it? (More to try is under the open exercises.)

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="cubic-text"
# ## Optional: why distance costs CUBIC less
#
# After a loss CUBIC's window climbs back in a time proportional to $\sqrt[3]{W}$, however long the round trip is. In balance this time is
# $1/n$, so $W \propto 1/n^3$ and $G \propto W/T \propto 1/(n^3 T)$. With synchronized losses $n$ is the same for both, so $e = 1$. With random losses $n \propto p\,G$
# gives $G^4 \propto 1/(p^3 T)$: $G \propto T^{-1/4} p^{-3/4}$, so $e = \tfrac14$.
#
# ## Optional: in which sense a sender's shares are an optimum
#
# Proportional fairness makes the sum of $\log G$ over all flows as large as it can be. Reno's own shares make another sum as small
# as it can be, the sum of $1/(T^2 G)$. A flow that gets little makes this sum large, so small flows count more in it than in the
# logarithms. But a far flow's part of it is divided by a larger $T^2$ and counts less: so Reno gives the far flow less.

# %% [markdown] id="published-text"
# ## Optional: what the published lab and the RFC say
#
# The lab's queue in part 1 was a steep RED: nothing is lost below 20 packets, very much above 23. It drops many packets at once, so
# we expect it between our two cases. We have one draw of each of its four settings, as the lab had.

# %% id="published"
steep_options = {"min_packets": 20, "max_packets": 23, "probability": 1.0}
steep = {"queue_packets": 100, "aqm": "red", "aqm_options": steep_options}
settings_of_lab = {
    (sender, "steep RED", ms, 1): draw(two_distances(ms, 300, **steep), two_pairs, sender, 1)
    for sender, ms in product(("reno", "cubic"), (800, 1300))
}
lab_runs = nl.sweep(settings_of_lab)
print("goodput of h1 / h2 in Mbit/s, and the exponent that follows")
print(experiments.published_table(experiments.distances(lab_runs)).to_string(index=False))

# %% [markdown] id="published-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# The lab expected $e = 1$ from all four. It concluded that distance costs CUBIC less than Reno. That agrees with
# theory and with both of our queues. The exponents printed here come from one run each, and the table of part 1 says how far
# single runs differ: the second digit means nothing.
#
# RFC 9438 (section 3.3) gives CUBIC the exponent 1, however the losses come. That is our "synchronized". With random losses we see less, and the
# RFC's own formula for a given loss rate (section 5) has the exponent $\tfrac14$.
#
# </details>

# %% [markdown] id="whose-text"
# ## Optional: fair to whom?
#
# Equal shares for flows are not equal shares for people. **Jain's index** makes one number of $N$ shares:
# $J = (\sum G)^2 / (N \sum G^2)$. It is 1 when all are equal and $1/N$ when one has everything. But somebody must say what is counted.
# In the lab's setting D1 both hosts are 300 ms away. `h1` has one connection, `h2` has three.

# %% id="whose"
both_near = two_distances(300, 300, queue_packets=100)


def d1(seed):
    """A scenario: one connection of h1, three of h2, which start at random moments."""
    starts_s = np.random.default_rng(seed).uniform(0, 10, 2).round(3)
    flows = [
        nl.Tcp("h1", "h3", start_s=starts_s[0]),
        nl.Tcp("h2", "h3", start_s=starts_s[1], streams=3),
    ]
    return nl.Scenario(both_near, flows, nl.run_length_s(240, real_s=60), seed, interval_s=1)


d1_runs = nl.sweep([d1(seed) for seed in range(1, 7)])
print(experiments.host_and_connection(d1_runs[0]))
by_host, by_connection = (
    np.array([nl.theory.jain_index(table["goodput_mbps"]) for table in tables])
    for tables in ([run.flows for run in d1_runs], [run.streams for run in d1_runs])
)
fairer = nl.interval(by_connection - by_host)
print(f"six runs, J by host {nl.interval(by_host):.2f}, {fairer:.2f} more by connection")

# %% [markdown] id="whose-why"
# The same run is fair by connection and unfair by host, and in six runs the interval of the difference [[does not hold 0 = fairer.mean > fairer.half_width]]. Neither is a mistake of measurement. A fair queue that tells flows
# apart by connection changes nothing here; one that counts by host would (`cake` can; the panel of the chapter on parallel
# streams has it).

# %% [markdown] id="optional"
# ## Optional: random losses, and nothing else
#
# A wire that loses each packet with the same chance is the pure case. Three flows, each over a lossy link of its own (300, 600
# and 1200 ms) to a fast link that is never full, lose 0.2 % of their packets. Theory's lines are for losses at equal distances; random losses raise the
# level (for Reno by 7 %, see the chapter on congestion control). The slopes are what this is about: 1 and ¼. The figure has the first of eight runs, the table the slopes of all.

# %% id="lot" tags=["figure"]
distances_ms = {"h1": 300, "h2": 600, "h3": 1200}
links = [
    nl.Link(h, "r1", delay_ms=ms, loss_rate=0.002, reverse={"delay_ms": 0, "loss_rate": 0})
    for h, ms in distances_ms.items()
]
back = {"rate_mbps": None, "queue_packets": None}
fast = nl.Link("r1", "h4", rate_mbps=1000, queue_packets=5000, reverse=back)
lossy = nl.Topology([*distances_ms, "h4"], ["r1"], links=[*links, fast])
flows = {c: [nl.Tcp(h, "h4", congestion=c) for h in distances_ms] for c in ("reno", "cubic")}
duration_s = nl.run_length_s(600, real_s=30)
cases = product(flows, range(1, 9))
lots = nl.sweep(
    {
        (c, seed): nl.Scenario(lossy, flows[c], duration_s, seed, interval_s=5)
        for c, seed in cases
    }
)
slopes = {c: [] for c in flows}
for (c, _), run in lots.items():
    logs = np.log(list(distances_ms.values())), np.log(run.goodput_mbps(duration_s / 10))
    slopes[c].append(-np.polyfit(*logs, 1)[0])
print(*(f"{c}: exponent {nl.interval(found):.2f}" for c, found in slopes.items()), sep="\n")
first = {c: lots[c, 1] for c in flows}
experiments.lot_figure(first, list(distances_ms.values()), loss_rate=0.002)

# %% [markdown] id="lot-why"
# [[Both intervals hold theory's exponent = all(abs(nl.interval(found).mean - exponent) <= nl.interval(found).half_width for found, exponent in zip(slopes.values(), (1, 0.25)))]].

# %% [markdown] id="open"
# ## Open exercises
#
# - In the panel: Reno, `drop-tail`. Along which line do the points go while the room grows, and where do they leave it? Another draw
#   shows what is luck.
# - In the panel: Reno's `h1` gains with `drop-tail` and 300 packets. Find a queue that gives `h1` the same goodput with a tenth of the delay. Try `gentle RED` and
#   `one for each flow`.
# - In the panel: CUBIC, drop-tail, 100 packets. Move `h1` from 300 to 1500 ms. Does distance cost CUBIC less than Reno, and why?
# - Drop-tail synchronized the losses of Reno's flows. How many flows on one link does it take until losses are random? Measure the
#   exponent with 2, 4, 8 and 16 flows, half of them far.
# - The queue makes distances more alike. By theory, which drop-tail queue makes Reno's `h1` and `h2` equal within 20 %, and what does
#   that cost in waiting? Why do three draws of four minutes not show it?
# - Let BBR and CUBIC cross the two bottlenecks. Is there an order of the three shares that holds for all seeds?
#
# ## Sources
#
# - T. V. Lakshman and U. Madhow, The performance of TCP/IP for networks with high bandwidth-delay products and random
#   loss, IEEE/ACM Transactions on Networking 5(3), 1997: Reno's exponent lies between 1 and 2.
# - M. Mathis and others, The macroscopic behavior of the TCP congestion avoidance algorithm, ACM CCR 27(3), 1997.
# - L. Xu and others, RFC 9438, 2023, sections 3.3 and 5: CUBIC and distance.
# - F. Kelly, A. Maulloo and D. Tan, Rate control for communication networks, Journal of the Operational Research
#   Society 49(3), 1998; F. Kelly, Mathematical modelling of the Internet, 2001: why Reno's shares are an optimum.
# - J. Mo and J. Walrand, Fair end-to-end window-based congestion control, IEEE/ACM Transactions on Networking 8(5), 2000.
# - R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984.
# - S. Floyd and V. Jacobson, Random Early Detection gateways, IEEE/ACM Transactions on Networking 1(4), 1993.
# - `epfl`: Congestion control; TCP, UDP: lab 5 of *TCP/IP Networking*, EPFL, 2021, section 3.
#
# ## Limits
#
# Two or three flows are few: with hundreds, losses become more and more random. Six draws give wide intervals; a finer statement needs
# more of them. `epfl` says that ECN was on; its CUBIC did not use it (its question 51), so here
# nothing is marked. Its delays were made on the hosts' interfaces; ours belong to the links.

# %% id="versions" tags=["nbval-ignore-output"]
settings = one_run.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time,\n"
    f"Linux {settings['kernel']}, seeds from 1 on"
)
