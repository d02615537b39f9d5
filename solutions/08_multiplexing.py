# %% [markdown] id="title"
# # Multiplexing
#
# **Which flow gets what when paths cross?**
#
# Packets of many flows go through a link, one after the other: the flows are *multiplexed*. There are no assigned
# shares. Each sender finds its own rate. What is the result? And what *should* it be?
#
# After this chapter you can
#
# 1. compute the fair share of every flow in any network;
# 2. predict how long packets wait when flows share a link, from the size of one queue;
# 3. say which part of a measured share is chance, which part is not, and how you tell them apart.
#
# *Time*: [[minutes]] minutes. *Builds on*: Congestion control. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np

import netlab as nl
from netlab_course.chapters import multiplexing

chapter = multiplexing.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# The network has three links in a row: L1 with 40 Mbit/s and 10 ms, L2 with 30 and 20, L3 with 20 and 10. Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# - Two hosts send by TCP over L1 and L2. The empty path takes 60 ms there and back. How long is the mean round trip while they send?
# - One flow crosses all three links and meets others on each, six flows in all. An equal share of the narrowest link is 6.4 Mbit/s of data.
#   How much does TCP Reno give the long flow?

# %% id="predict"
my_rtt_ms = 75  # SOLUTION
my_long_mbps = 5  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "It gets less than the equal share of 6.4, because its round trip is longer."
# END SOLUTION

rtt_prediction = nl.checks.predict(
    "mean RTT of h1-h4", my_rtt_ms, unit="ms", low=60, high=1000)
long_prediction = nl.checks.predict(
    "goodput of the flow over three links", my_long_mbps, "Mbit/s", low=0, high=19.2,
    reason=my_reason)

# %% [markdown] id="network-text"
# ## The network
#
# It comes from `simpleperf`: portfolio 1 of DATA2410, OsloMet, 2023. Only the links between the routers have a
# rate, a delay and a queue: L1, L2 and L3.

# %% id="network" tags=["figure"]
network = nl.topologies.portfolio()
nl.plots.topology(
    network,
    title="Nine hosts, four routers in a row",
    link_names={("r1", "r2"): "L1", ("r2", "r3"): "L2", ("r3", "r4"): "L3"},
)

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s | rate of a link |
# | $D$ | `delay_ms` | ms | one-way propagation delay |
# | $T$ | `rtt_ms` | ms | round-trip time, queueing included |
# | $Q$ | `queue_packets` | packets | room in the queue before the link |
# | $J$ | `fairness_index` | fraction | Jain's index |
# | $x_i$ | | Mbit/s | rate of flow $i$ |
#
# The lab made four experiments. In each, two or three pairs send by TCP for 25 s, and a ping beside each
# measures the round trip.
#
# | experiment | pairs | what they share |
# |---|---|---|
# | 1 | h1-h4, h2-h5 | L1 and L2 |
# | 2 | h1-h4, h2-h5, h3-h6 | L1 and L2 |
# | 3 | h1-h4, h7-h9 | L2 only |
# | 4 | h1-h4, h8-h9 | no link, only router r3 |
#
# ## Part 1: what would be fair?
#
# Let water rise. All rates begin at zero and rise together. At some moment a link is full: its flows stop there, at their
# *bottleneck*. When the last has stopped, no flow can get more without taking from one that has less, or just as much.
# This is *max-min fair*; the method is *water-filling*.
#
# ### Exercise 1: let the water rise
#
# Write the function. `capacities_mbps` is a dict of rates by link, `routes` a dict of lists of links by flow. Return a dict of rates by
# flow, in Mbit/s. A worked number: links A with 12 and B with 6 Mbit/s; one flow over both, one over A only, two over B only. B
# fills first: its three flows get 2 each. The one over A alone goes on to 10. Tolerance: [[tolerance]].
#
# Which link fills next, and at which level? The frame of the loop is there.


# %% id="water"
def fair_shares_mbps(capacities_mbps, routes):
    """Max-min fair rate of each flow in Mbit/s."""
    left_mbps = dict(capacities_mbps)  # what each link still has
    shares_mbps = {}  # the flows that have stopped
    for _ in capacities_mbps:  # each round fills a link, if a flow over it still rises
        rising = {
            link: [flow for flow in routes if link in routes[flow] and flow not in shares_mbps]
            for link in left_mbps
        }
        # Which link fills next? Stop its rising flows: note their level,
        # and take it from each link of their routes.
        # BEGIN SOLUTION
        levels_mbps = {
            link: left_mbps[link] / len(flows)
            for link, flows in rising.items()
            if flows
        }
        if levels_mbps:
            full = min(levels_mbps, key=levels_mbps.get)
            for flow in rising[full]:
                shares_mbps[flow] = levels_mbps[full]
                for link in routes[flow]:
                    left_mbps[link] -= levels_mbps[full]
        # END SOLUTION
    return shares_mbps or ...


# %% id="water-check" tags=["minutes-28"]
chapter.check.water(fair_shares_mbps)

# %% [markdown] id="jain-text" tags=["optional"]
# ### Optional: one number for fairness
#
# *Jain's index* $J = (\sum x_i)^2 / (n \sum x_i^2)$ is 1 if all of $n$ rates are equal, and $1/n$ if one has everything. Here
# are the four experiments. Of each rate 1448 / 1514 are data, the rest are headers.

# %% id="jain" tags=["optional"]
print("Rates in Mbit/s")
print(chapter.settings.fair_table().round(2).to_string(index=False, col_space=6))

# %% [markdown] id="jain-why" tags=["optional"]
# Look at experiment 4: an index of 0.96, although the allocation is max-min fair and the two flows do not even meet. **Jain's index
# measures equality, not fairness.** It judges well among flows that deserve the same, and only there.

# %% [markdown] id="tcp-text"
# ## Part 2: what TCP does
#
# The lab made each experiment once. We make the first three five times. All that differs from one *draw* to the next is the moment, within a
# tenth of a second, at which each pair begins. In the figure a dot is a draw, the bar the fair share, the diamond what the lab published.

# %% id="contest"
def contest(network, pairs, draws=5, send_s=nl.run_length_s(25, real_s=7), congestion="cubic",
            ping=True, lead_s=0, interval_s=1):
    """All pairs send by TCP for send_s, each lead_s after the last one, draws times."""
    random = np.random.default_rng(1)
    flows, each_s = [], send_s + nl.run_length_s(5, real_s=1.5)
    for draw in range(draws):
        for place, (src, dst) in enumerate(pair.split("-") for pair in pairs):
            at_s = draw * each_s + place * lead_s + random.uniform(0, 0.1)
            flows += [nl.Tcp(src, dst, start_s=at_s, duration_s=send_s, congestion=congestion)]
            if ping:
                flows += [nl.Ping(src, dst, start_s=at_s, interval_s=1, count=int(send_s))]
    return nl.Scenario(network, flows, duration_s=draws * each_s, interval_s=interval_s)


# %% id="tcp" tags=["figure"]
pairs = {1: ["h1-h4", "h2-h5"], 2: ["h1-h4", "h2-h5", "h3-h6"],
         3: ["h1-h4", "h7-h9"], 4: ["h1-h4", "h8-h9"]}
draws = {1: 5, 2: 5, 3: 5, 4: 2}
runs = nl.sweep({number: contest(network, pairs[number], draws[number]) for number in pairs})
chapter.settings.shares_figure(runs, title="Four experiments, draw by draw")

# %% id="tcp-table" tags=["folded"]
print("Goodput in Mbit/s; +- is half the 95 % interval of the mean")
shares = chapter.settings.shares_table(runs)
print(shares.round(2).to_string(index=False, na_rep="", col_space=9))
pings_ms = chapter.settings.by_draw(runs[1], pairs[1], "rtt_ms", "ping")
rtt_prediction.compare(pings_ms.mean()["h1-h4"])

# %% [markdown] id="tcp-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Look at the rows "together" first. They hardly move, and lie [[half a per cent or less = float((1 - shares.query("pair == 'together'")["mean"] / 28.69).max()) | 0.002 .. 0.005]] below theory. **The sum is nearly fixed.**
#
# The shares are not. In experiments 1 and 2 all flows deserve the same and take the same path, and one tenth of a second decides which flow gets more. The
# fair share lies within [[each of their intervals = bool(((shares["mean"] - shares["fair"]).abs() < shares["+-"])[shares["experiment"].isin([1, 2]) & (shares["pair"] != "together")].all())]]: as far as these draws can tell, no flow is favoured. This does not average out within 25 s, because the windows change slowly: with CUBIC [[four to seven seconds = all(4 <= chapter.settings.between_cuts_s(runs[number]) <= 7 for number in (1, 2, 3))]] lie between two cuts of a flow
# (see [when shares change](#Optional:-when-shares-change)). **A published share is one more draw.**
# [[Four of the lab's nine = int(shares.round(2).query("pair != 'together' and least <= published <= most").shape[0]) | 4 .. 4]] lie between our smallest and our largest. For the four of experiments 2 and 3 that do not, [which flow was first?](#Optional:-which-flow-was-first?) looks for a reason.
#
# </details>
#
# ## Part 3: how long packets wait
#
# A packet that finds $n$ others before it waits until they are gone. TCP fills the queue before its bottleneck until it overflows. So the longest
# round trip is the empty path and one full queue:
#
# $$T_\text{full} = 2 \sum D + \frac{Q \cdot 1514 \cdot 8}{R}$$
#
# with $Q$ and $R$ of the bottleneck. It holds while only one queue on the path fills.
#
# ### Exercise 2: measure it
#
# `transfer_and_ping(own.room_packets)` has a transfer, a ping beside it, a queue of [[room_packets]] packets before L2, and a
# call over L2 too. A colleague says: "On average the longest ping (column `rtt_max_ms`) takes more than [[stated_ms]] ms." What does $T_\text{full}$ say?
# Show with an interval whether he is right. (The recipe is in the first hint.)

# %% id="transfer-and-ping"
def transfer_and_ping(room_packets):
    """h1 sends to h4 beside a ping and a call; this much room before L2."""
    path = nl.topologies.portfolio(queue_packets=(67, room_packets, 33))
    call = nl.Udp("h2", "h5", rate_mbps=1, spacing="random")
    flows = [nl.Tcp("h1", "h4"), nl.Ping("h1", "h4", interval_s=0.1), call]
    return nl.Scenario(path, flows, duration_s=nl.run_length_s(25, real_s=12))


# %% id="repeated"
# Take 8 to 30 seeds in a row. my_refutation: a condition on the edges of an interval, such
# as "low > 1 and high < 2": for which intervals (in ms) is the statement refuted?
# my_verdict is "supported", "refuted" or "undecided".
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"high < {own.stated_ms}"
my_table = nl.repeat(transfer_and_ping(own.room_packets), seeds=10)
my_rows = my_table[my_table["kind"] == "ping"]
my_interval = nl.interval(my_rows["rtt_max_ms"])
mean, half = my_interval
if mean - half > own.stated_ms:
    my_verdict = "supported"
elif mean + half < own.stated_ms:
    my_verdict = "refuted"
else:
    my_verdict = "undecided"
# END SOLUTION
my_finding = [my_table, my_interval, my_refutation, my_verdict]

# %% id="repeated-check" tags=["minutes-8"]
chapter.check.repeated(my_finding)

# %% [markdown] id="lab-text" tags=["optional"]
# ### Optional: what the published lab measured
#
# Now the pings of the four experiments. The lab set limits of 67, 100 and 33 packets. A full queue of 100 packets doubles L2's own round trip of
# 40 ms. The lab's means are [[7 to 21 ms below ours = bool((waits["mean"] - waits["published"]).between(6.5, 21.4).all())]]. Shares are chance, waits are not. So this gap needs a reason.
#
# Here is one. The lab's network was built with Mininet, which gives the limit to `netem`, the part of Linux that delays packets. `netem` counts
# *all* packets that have not left it: those that wait for the link, and those in flight on it. On a busy L2, 49.5 packets
# are in flight ($30 \text{ Mbit/s} \cdot 20 \text{ ms}$). Of the limit of 100 only 50 remain for waiting. In the same way 34 remain before L1 and
# 16 before L3. (netlab keeps the two apart.) If this is right, the same experiments with these *rooms* give the published waits. Nothing is fitted.

# %% id="lab" tags=["optional"]
lab = nl.topologies.portfolio(queue_packets=(34, 50, 16))
lab_runs = nl.sweep({number: contest(lab, pairs[number], draws[number]) for number in pairs})
waits = chapter.settings.waits_table(runs, lab_runs)
print("Round trips in ms, by ping")
print(waits.round(1).to_string(index=False, col_space=6))

# %% [markdown] id="lab-why" tags=["optional"]
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# The longest waits lie [[within 2 % of one full queue = float((waits["longest"] / waits["full queue"] - 1).abs().max()) | 0.005 .. 0.02]]. (It is largest for h7-h9, probably because some of its packets
# also wait before L3.) With the lab's rooms the gap to the published means is [[6 % at most = float(waits["gap, %"].abs().max()) | 5 .. 6]], for all nine. Our means are [[mostly the higher ones = int((waits["gap, %"] > 0).sum()) | 6 .. 9]]. A guess: some of
# the lab's pings, which were started by hand, met a queue that was not yet full.
#
# </details>

# %% [markdown] id="six-text"
# ## Part 4: six paths cross
#
# Now six flows, one of them over all three links.
#
# | flow | links | empty round trip |
# |---|---|---|
# | h1-h9 | L1, L2, L3 | 80 ms |
# | h2-h7 | L1 | 20 ms |
# | h3-h4 | L1, L2 | 60 ms |
# | h7-h5 | L2 | 40 ms |
# | h8-h9, h6-h9 | L3 | 20 ms |
#
# Max-min is one answer to what each should get. The *square-root formula* of the chapter on congestion control
# says what Reno will take: a rate proportional to $1/(T_i \sqrt{p_i})$, where a flow's loss rate $p_i$ is the sum of its links' loss rates.
# The table below has the six rates at which this holds and the links are full (column `square root`).

# %% [markdown] id="crossing-text"
# Three experiments, five draws each. *Drop-tail*: Reno with the queues as they are. *RED* (Random Early Detection): Reno with longer
# queues that drop at random before they are full, with a small chance that is the same for the packets of all flows. *Fair queues* (`fq_codel`): CUBIC, and in each router a queue for each flow, served in turn.
#
# Before you run it: which of the three comes closest to max-min, and which closest to the square-root formula?

# %% id="crossing" tags=["figure"]
six = ["h1-h9", "h2-h7", "h3-h4", "h7-h5", "h8-h9", "h6-h9"]
red = nl.topologies.portfolio(aqm="red", queue_packets=(200, 200, 200))
fair = nl.topologies.portfolio(aqm="fq_codel", aqm_options={"target_ms": 20})
common = {"send_s": nl.run_length_s(30, real_s=8), "ping": False, "interval_s": 0.2}
crossed = nl.sweep({
    "drop-tail": contest(network, six, congestion="reno", **common),
    "RED": contest(red, six, congestion="reno", **common),
    "fair queues": contest(fair, six, **common),
})
chapter.settings.crossing_figure(crossed, title="Six flows, three kinds of queue")

# %% id="crossing-table" tags=["folded"]
print("Goodput in Mbit/s; +- is half the 95 % interval of 5 draws' mean")
crossing_table = chapter.settings.crossing_table(crossed).round(2)
print(
    crossing_table.rename(
        columns=lambda name: name[:2] if name.startswith("+-") else name
    ).to_string(na_rep="")
)
print("\nCuts of the window for 1000 segments, with Reno, after the first 5 s")
print(chapter.settings.cuts_table(crossed).round(1).to_string(index=False, col_space=5))
by_draw = chapter.settings.by_draw(crossed["drop-tail"], six)
long_prediction.compare(
    by_draw["h1-h9"].mean(),
    theory=chapter.settings.allocations().loc["h1-h9", "square root"],
)

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# It gets less than a sixth of my number. The longer round trip alone would not do that. The long flow also meets a queue on three links, so it loses packets
# three times as often: with both, theory gives 2.0 Mbit/s. The measured value is far below that too, so losses do not fall on all flows at random:
# a drop-tail queue hits some flows again and again.
#
# Rubric:
#
# - compares the number with theory's 2.0 and the measured value;
# - losses on three links, and the longer round trip;
# - says that the measurement is below theory too, so that something else is left out.
# <!-- END SOLUTION -->

# %% [markdown] id="crossing-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# **Fair queues** bring all six flows to max-min within [[a few per cent = float((chapter.settings.crossing_table(crossed)["fair queues"] / chapter.settings.crossing_table(crossed)["max-min"] - 1).abs().max()) | 0 .. 0.035]]. Each router served its own flows in turn, and TCP did the rest.
#
# **RED** brings the long flow nearer to the formula's 2 Mbit/s: it gets [[two to three times = float(chapter.settings.crossing_table(crossed).loc["h1-h9", "RED"] / chapter.settings.crossing_table(crossed).loc["h1-h9", "drop-tail"]) | 2 .. 3]] what drop-tail leaves it.
#
# **Drop-tail** gives the long flow [[a third of the 2 Mbit/s = float(chapter.settings.crossing_table(crossed).loc["h1-h9", "drop-tail"] / 2.005) | 0.27 .. 0.4]]. So its long path and long round trip explain the fall from 6.4 to 2 Mbit/s, but
# not the rest.
#
# </details>
#
# ### Exercise 3: what is the rest?
#
# A full queue does not drop at random: it drops what comes at the wrong moment. A colleague says: "The packets of h1-h9 come at the wrong moment again and again, because nothing in the network is random." Test it. Let the six Reno flows send once more,
# three draws or more of 20 s or more, with the same links and drop-tail queues between the routers. Change only the links of the hosts (`link.a` or `link.b` begins with "h"): a `jitter_ms` of 2 or more on all of them, with as much `delay_ms` or more (at most 10), makes moments random.
# If the colleague is right, h1-h9 gets twice as much at least. Keep the run as `my_run`. Then run the same delay without jitter, and print h1-h9's mean goodput in both.

# %% id="bias"
my_run = ...
# BEGIN SOLUTION NO PROMPT
def my_scenario(delay_ms, jitter_ms):
    """Six Reno flows; the links of the hosts have this delay and jitter."""
    links = [
        nl.Link(link.a, link.b, delay_ms=delay_ms, jitter_ms=jitter_ms)
        if "h" in link.a + link.b
        else link
        for link in network.links
    ]
    my_network = nl.Topology(network.hosts, network.routers, network.switches, links)
    return contest(my_network, six, congestion="reno", **common)


my_run = nl.run(my_scenario(2, 2))
my_controls = nl.sweep({delay_ms: my_scenario(delay_ms, 0) for delay_ms in (2, 3, 4)})
my_long = {}
for delay_ms, run in {"2, random": my_run, **my_controls}.items():
    my_long[delay_ms] = nl.interval(chapter.settings.by_draw(run, six)["h1-h9"])
    print(f"{delay_ms} ms: {my_long[delay_ms]:.1f} Mbit/s")
# END SOLUTION

# %% id="bias-check" tags=["minutes-8"]
chapter.check.bias(my_run)

# %% [markdown] id="change-text"
# ### Change one thing
#
# Give the six flows CUBIC with drop-tail, not Reno. Who gains, who loses? Predict, then run.

# %% id="change-congestion"
changed_congestion = "cubic"
changed = nl.run(contest(network, six, congestion=changed_congestion, **common))
after_mbps = chapter.settings.by_draw(changed, six).mean()
print(f"Goodput in Mbit/s with reno and with {changed_congestion}")
for pair, mbps in by_draw.mean().items():
    print(f"{pair}: {mbps:6.2f} {after_mbps[pair]:6.2f}")

# %% [markdown] id="cuts-why" tags=["optional"]
# ### Optional: how much is bias
#
# With RED all six together carry less than in theory, because RED drops while its queue is too short to keep the link busy after a cut. Here the three flows of L1 carry [[34.5 = float(chapter.settings.crossing_table(crossed).loc[ ["h1-h9", "h2-h7", "h3-h4"], "RED"].sum()) | .1f]] of the 38.3 Mbit/s that it could, with drop-tail [[38.1 = float(chapter.settings.crossing_table(crossed).loc[["h1-h9", "h2-h7", "h3-h4"], "drop-tail"].sum()) | .1f]].
#
# The table of cuts, below the figure of part 4, explains the rest. A sender cuts its window once for each *event*, however many segments are lost in it, so the table counts cuts. By theory
# the long flow is cut, per segment, as often as three flows with one link each together. With drop-tail it is cut [[about eight times = float(chapter.settings.cuts_table(crossed)["h1-h9 / sum"].iloc[0]) | 6.5 .. 9.5]] as often; the interval (`+-`, five draws) leaves
# no doubt that it is several times. By the square-root formula the rate then falls by a factor of $\sqrt{8}$, from 2 to 0.7 Mbit/s, which is near the measurement. With RED it is cut [[about twice = float(chapter.settings.cuts_table(crossed)["h1-h9 / sum"].iloc[1]) | 1.5 .. 2.5]] as often.
#
# Floyd and Jacobson (1992) call it a *bias* that the packets of some flows come at the wrong moment again and again. A little randomness makes it smaller: here
# RED does not remove it, and the jitter of exercise 3 takes most of it away: with 2 ms h1-h9 has [[2.0 = my_long["2, random"].mean | .1f]] Mbit/s. (The formula gives [[2.5 = chapter.settings.allocations({pair: rtt_ms + 8 for pair, rtt_ms in chapter.settings.EMPTY_RTTS_MS.items()}).loc["h1-h9", "square root"] | .1f]] there, because delay makes short round trips longer by more, in proportion.)
# Delay without jitter gives it [[1.1, 0.7 and 1.6 = ", ".join(f"{my_long[delay_ms].mean:.1f}" for delay_ms in (2, 3, 4)) == "1.1, 0.7, 1.6"]] Mbit/s with 2, 3 and 4 ms: packets come at other moments, which are just as fixed, and whom they favour depends on them.

# %% [markdown] id="judge-words"
# ### Exercise 4: judge it
#
# The owner of `h1` complains to you: "My flow to h9 gets a tenth of its fair share. Give everybody the same!" Answer in four to six sentences: what does
# the network gain from treating h1-h9 badly, which part of it is not intended, and which queue would you choose? Use at least two numbers of the tables.
# <!-- BEGIN SOLUTION -->
# The six flows together carry [[79 = chapter.settings.crossing_table(crossed).loc["together", "drop-tail"] | .0f]] Mbit/s with drop-tail and [[62 = chapter.settings.crossing_table(crossed).loc["together", "fair queues"] | .0f]] with fair queues, because a bit for h1-h9 takes a place on three links that could carry
# three bits of others. So what you lose, others gain, and more than you lose.
# But you get [[0.7 = chapter.settings.crossing_table(crossed).loc["h1-h9", "drop-tail"] | .1f]], and that is not intended: Reno's own square-root formula would leave you 2.0, and the rest comes from the drop-tail queues, which
# make you cut your window about eight times as often, per segment, as three flows with one link each together. With RED you would get [[1.6 = chapter.settings.crossing_table(crossed).loc["h1-h9", "RED"] | .1f]]. I choose fair queues: you get [[6.2 = chapter.settings.crossing_table(crossed).loc["h1-h9", "fair queues"] | .1f]]
# and [[no flow gets less = bool(chapter.settings.crossing_table(crossed)["fair queues"].idxmin() == "h1-h9")]], and the price is a smaller total. (Another choice is as good if it says whose gain it prefers.)
#
# Rubric:
#
# - names the gain in the total and its reason (a long flow takes capacity on three links), with numbers;
# - tells what Reno itself does (round trip and several links) from drop-tail's bias, with numbers;
# - chooses a queue and says who pays for the choice.
# <!-- END SOLUTION -->

# %% [markdown] id="summary"
# ## Summary
#
# 1. When flows share a bottleneck, their sum is nearly fixed and the shares are not: equal flows get equal shares on average only, and a single measurement is one draw.
# 2. How long packets wait follows from the one queue that fills.
# 3. Fair queues lead to max-min; by the square-root formula Reno leaves less to a flow with a long round trip and many links; and drop-tail queues
#    add a bias that the formula does not explain.

# %% [markdown] id="room-text"
# ## Optional: a promise
#
# An optional exercise, with no points. Somebody plays over the same path and can tolerate a round trip of [[most_ms]] ms. What is the largest queue before L2, in packets,
# that keeps this promise while `h1` sends to `h4`? Compute it; `transfer_and_ping(...)` with your number tests it.
# Tolerance: [[tolerance]].

# %% id="room"
largest_queue_packets = (own.most_ms - 60) * 30_000 / (1514 * 8)  # SOLUTION

# %% id="room-check"
chapter.check.room(largest_queue_packets)

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The six flows, with CUBIC, for 10 s. The bars are the max-min shares of *your* links. Three things to try:
#
# 1. Move *Draw* and touch nothing else. Which flows move, which do not?
# 2. Make L2 slower. When do you see its effect on flows that never cross it?
# 3. Shrink all queues, then make them larger. Does a larger queue make TCP fairer to the long flow?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="shares-text"
# ## Optional: when shares change
#
# Do the shares of two equal flows change mainly when one of them loses? Here are ten draws of experiment 1. A cut shows as a change of the slow-start threshold; we count the
# 0.4 s in which it happens. And do shares even out in draws of 200 s? Say what you expect.

# %% id="cuts"
two = nl.run(contest(network, pairs[1], draws=10, ping=False, interval_s=0.2))
near_cuts = []
for at in range(0, 20, 2):
    names = two.flows["flow"].iloc[at:at + 2].tolist()
    begin_s = two.flows["start_s"].iloc[at]
    rows = two.intervals[two.intervals["flow"].isin(names)]
    rows = rows[(rows["t_s"] > begin_s + 5) & (rows["t_s"] < begin_s + 25)]
    windows = rows.pivot_table(index="t_s", columns="flow", values="cwnd_segments")
    limits = rows.pivot_table(index="t_s", columns="flow", values="ssthresh_segments")
    change = (windows[names[0]] / windows.sum(axis=1)).diff().abs()
    is_cut = (limits.diff().fillna(0) != 0).any(axis=1)
    is_near = is_cut | is_cut.shift(1, fill_value=False)
    near_cuts += [(100 * change[is_near].sum() / change.sum(), 100 * is_near.mean())]
changed_percent, time_percent = (nl.interval(column) for column in zip(*near_cuts))
print(f"{changed_percent:.0f} % of all change in {time_percent:.0f} % of the time")
long_draws = nl.run(contest(network, pairs[1], draws=5, send_s=200, ping=False))
scatter_mbps = {
    send_s: chapter.settings.by_draw(run, pairs[1])["h1-h4"].std()
    for send_s, run in {25: two, 200: long_draws}.items()
}
for send_s, mbps in scatter_mbps.items():
    print(f"draws of {send_s} s: standard deviation of h1-h4's goodput {mbps:.1f} Mbit/s")

# %% [markdown] id="cuts-shares-why"
# <details><summary><b>Do they?</b> (Open it when you have an answer of your own.)</summary>
#
# Only in part. The share changes [[several times as fast near a cut = changed_percent.mean - changed_percent.half_width > 2 * (time_percent.mean + time_percent.half_width)]] as at other times, but [[more than half of all change = changed_percent.mean < 50]] comes between the cuts, when windows grow back. Draws of 200 s differed [[less = scatter_mbps[200] < 0.8 * scatter_mbps[25]]], by [[1.1 = scatter_mbps[200] | .1f]] in place of [[3.1 = scatter_mbps[25] | .1f]] Mbit/s: shares even out, but slowly.
#
# </details>

# %% [markdown] id="first-text"
# ## Optional: which flow was first?
#
# Two published experiments stand out. In experiment 2 the three flows got 12.61, 9.22 and 8.14 Mbit/s, in the order of their start. In
# experiment 3 h1-h4 got 18.00 and h7-h9 10.84. The lab's clients were started by hand, h1 first. Does a head start explain it? *Lab's rooms* are the ones in
# part 3, *full rooms* 67, 100 and 33 packets.

# %% id="first"
print("Mean goodput of 5 draws in Mbit/s; +- is half the 95 % interval")
lab = nl.topologies.portfolio(queue_packets=(34, 50, 16))  # the lab's rooms
open_l3 = nl.topologies.portfolio((40, 30, None))
behind = nl.Link("h7", "r2", rate_mbps=40, queue_packets=67)
links = [behind if link.a == "h7" else link for link in open_l3.links]
spaced = nl.Topology(open_l3.hosts, open_l3.routers, open_l3.switches, links)
head_runs = nl.sweep({
    "2, lab's rooms, 1 s apart": contest(lab, pairs[2], lead_s=1, ping=False),
    "3, lab's rooms, 4 s apart": contest(lab, pairs[3], lead_s=4, ping=False),
    "3, full rooms, 0.3 s apart": contest(network, pairs[3], lead_s=0.3, ping=False),
    "3, no limit on L3": contest(open_l3, pairs[3], ping=False),
    "3, no limit on L3, h7 behind 40 Mbit/s": contest(spaced, pairs[3], ping=False),
})
heads = chapter.settings.heads_table(head_runs)
print(heads.round(1).to_string(index=False, na_rep=""))

# %% id="head-start"
three = pairs[2]
leads_s = {"together": 0, "1 s apart": 1}
starting = nl.sweep({
    name: contest(lab, three, draws=10, lead_s=lead_s, ping=False)
    for name, lead_s in leads_s.items()
})
head = {}
for name, run in starting.items():
    by_start = chapter.settings.by_draw(run, three)
    head[name] = [nl.interval(by_start[pair]) for pair in three]
    print(f"{name + ':':10}", *(f"{each:.1f}" for each in head[name]), "Mbit/s")

# %% [markdown] id="first-why"
# **Experiment 2** fits such a start, as far as five draws can tell: with one second between the starts our means come [[within a fifth of all three published shares = float((heads.iloc[0, 1:4].astype(float) / heads.iloc[1, 1:4].astype(float) - 1).abs().max()) | 0 .. 0.2]] and [[1 % of their sum = float(abs(heads.iloc[0, 4] / heads.iloc[1, 4] - 1)) | 0 .. 0.0149]]. The sum rises above 28.7, because each flow has less company in its first or last seconds. Is it the head start? Ten draws in which all begin together give [[three equal shares = all(abs(mean - each.mean) < each.half_width for each in head["together"] for mean in [sum(each.mean for each in head["together"]) / 3])]];
# with one second between the starts the first flow gets [[12.6 ± 1.3 = f"{head['1 s apart'][0]:.1f}" | s]] and the last [[7.8 ± 0.8 = f"{head['1 s apart'][2]:.1f}" | s]] Mbit/s. (The hosts are alike, so another order of starts gives the same run with other names.)
#
# **Experiment 3** is not quite explained by it. A head start moves the shares to the published side. A third of a second with full rooms comes [[within a tenth of both shares = float((heads.iloc[3, 1:3].astype(float) / heads.iloc[4, 1:3].astype(float) - 1).abs().max()) | 0 .. 0.1]] and near the sum, but then the waits of part 3 do
# not fit; with the lab's rooms the first share takes 4 s, and then the other one and the sum are [[too high = bool(heads.iloc[2, 2] > 1.1 * heads.iloc[4, 2] and heads.iloc[2, 4] > 1.05 * heads.iloc[4, 4])]]. We do not know.
#
# The last two rows show a bias between flows of the *same* round trip. Without a limit on L3, h7-h9 gets [[a fifth = float(heads.iloc[5, 2] / heads.iloc[5, 4]) | 0.17 .. 0.25]], although its path became wider. Its packets then reach L2 in bursts,
# straight from the host, while the packets of h1 have been spaced by L1. A link of 40 Mbit/s that spaces them, too, brings [[the shares back together = bool(abs(heads.iloc[6, 1] - 14.35) < heads.iloc[6, 5])]], as far as five draws can tell.
#
# ## Open exercises
#
# 1. Add h2-h5 and h3-h6 to experiment 4. Compute the fair shares and the longest round trips before you run it.
# 2. Give the six flows RED with CUBIC instead of Reno. Whose share changes, and is it the round trip or the number of links?
# 3. Run part 4 with fair queues and a `target_ms` of 5, 20 and 100 (`aqm_options`). Which flow pays for a short target?
# 4. **Challenge.** Three routers with two links of 10 Mbit/s, one flow over both, one over each. `nl.theory.alpha_fair_mbps` maximizes $\sum x_i^{1-a}/(1-a)$.
#    Which $a$ do TCP's measured shares have, with drop-tail, with RED, with fair queues? (Mo and Walrand, 2000.)
#
# ### Reading
#
# - D. Bertsekas, R. Gallager, *Data Networks*, 2nd edition, 1992, section 6.5.2. Max-min fairness and water-filling.
# - R. Jain, D.-M. Chiu, W. Hawe, *A Quantitative Measure of Fairness*, DEC Research Report TR-301, 1984.
# - J. Mo, J. Walrand, *Fair End-to-End Window-Based Congestion Control*, IEEE/ACM Transactions on Networking 8(5), 2000.
# - S. Floyd, V. Jacobson, *On Traffic Phase Effects in Packet-Switched Gateways*, Internetworking: Research and Experience, 1992; *Random Early Detection
#   Gateways for Congestion Avoidance*, IEEE/ACM Transactions on Networking 1(4), 1993.
# - D.-M. Chiu, R. Jain, *Analysis of the Increase and Decrease Algorithms*, Computer Networks and ISDN Systems 17, 1989. AIMD comes to equal shares if all
#   flows hear of a loss at the same time; here they do not.
# - T. Hoeiland-Joergensen and others, *FQ-CoDel*, RFC 8290, 2018; L. Xu and others, *CUBIC*, RFC 9438, 2023 (the time between losses: section 4.2).
#
# ## Limits
#
# All this ran through Linux's own TCP and queues, but time was virtual: nothing but our random starts disturbs the timing of the packets, so drop-tail's bias may be
# stronger here than elsewhere. The shares of single flows are draws. They repeat exactly with the same seed and kernel; expect other draws with another kernel. All flows were
# long; most real ones end before they have found their share. The square-root formula is for small loss rates that are the same for all flows on a link.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = runs[1].settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
