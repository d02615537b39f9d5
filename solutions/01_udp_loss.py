# %% [markdown] id="title"
# # UDP loss
#
# **Which rate would you choose, and what does a wrong choice cost?**
#
# UDP sends at the rate that you tell it, and never slows down. So the choice is yours, and so is the damage.
#
# After this chapter you can
#
# 1. say how much application data a link carries, and name every byte of the rest;
# 2. say what too high a rate costs: lost datagrams, waiting time, and the traffic of your neighbours;
# 3. find the rate of a bottleneck that you do not know, without doing harm.
#
# *Time*: [[minutes]] minutes. *Builds on*: Start here. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np

import netlab as nl
from netlab_course.chapters import udp_loss
from netlab_course.chapters.udp_loss import experiments

chapter = udp_loss.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# A host sends UDP datagrams with 1000 bytes of data over a link of 5 Mbit/s whose queue holds 100 packets. (All rates of
# senders and receivers count application data alone, the *payload*. Headers come on top.)
#
# - It offers 5 Mbit/s. How many Mbit/s of data arrive?
# - It offers only 1 Mbit/s, but a neighbour sends 9 Mbit/s through the same link.
#   Which fraction of the *modest* host's datagrams is lost? (0.1 is 10 %.)

# %% id="predict"
my_goodput_mbps = 4.69  # SOLUTION
my_modest_loss_rate = 0.5  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = (
    "10 Mbit/s are offered and 5 fit, so half of all datagrams are lost, whoever sent them."
)
# END SOLUTION

goodput_prediction = nl.checks.predict(
    "goodput at 5 Mbit/s offered", my_goodput_mbps, unit="Mbit/s", low=0, high=5
)
modest_prediction = nl.checks.predict(
    "loss rate of the modest host", my_modest_loss_rate, low=0, high=1, reason=my_reason
)

# %% [markdown] id="network-text"
# ## The network
#
# Two senders, a switch that joins them, one router, and one receiver. The router's link to `h3` is slow, and before it there
# is a queue. When the queue is full, the router drops what comes next. (This is called *drop-tail*.)
#
# `Link("r1", "h3", ...)` sets both directions; `reverse={...}` makes the way back so fast that it plays no
# part. The network and the published results come from `epfl`: lab 5 of *TCP/IP Networking*, EPFL, 2021.

# %% id="network" tags=["figure"]
network = nl.Topology(
    hosts=["h1", "h2", "h3"],
    routers=["r1"],
    switches=["s1"],
    links=[
        nl.Link("h1", "s1"),
        nl.Link("h2", "s1"),
        nl.Link("s1", "r1"),
        nl.Link("r1", "h3", rate_mbps=5, queue_packets=100, reverse={"rate_mbps": 1000}),
    ],
)
nl.plots.topology(network, title="Two senders share one link of 5 Mbit/s")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s ($10^6$ bit/s) | rate of the slow link |
# | $P$ | `payload_bytes` | bytes | application data in a datagram |
# | $F$ | `framing_bytes` | bytes | what the link adds to an IP packet |
# | $X$ | `offered_mbps` | Mbit/s | application data that a sender puts in |
# | $G$ | `goodput_mbps` | Mbit/s | *goodput*: application data that arrives, each byte counted once |
# | $p$ | `loss_rate` | fraction | datagrams lost / datagrams sent |
# | $Q$ | `queue_packets` | packets | room in the queue before the link |
#
# ## Part 1: what fits
#
# A link carries more than your data. A datagram on an Ethernet wire consists of:
#
# | part | bytes |
# |---|---|
# | preamble and start-of-frame mark | 8 |
# | Ethernet header | 14 |
# | IP header | 20 |
# | UDP header | 8 |
# | your data | $P$ |
# | frame check sequence | 4 |
# | gap before the next frame | 12 |
#
# IP and UDP take 28 bytes. What the link adds is $F$. On a wire it is preamble, Ethernet header, check sequence
# and gap: $F = 8 + 14 + 4 + 12 = 38$ bytes.
#
# A link that is never idle spends its rate on whole frames. Of each frame only $P$ bytes are data. From this
# follows $G_\text{max}$, the highest goodput. A link reaches it when it is busy all the time.

# %% [markdown] id="limit-text"
# ### Exercise 1: the limit
#
# Write the function. A worked number to test yourself: 10 Mbit/s, 500 bytes of payload and 38 bytes of
# framing give 8.834 Mbit/s. Keep the names of the parameters, here and later: the check calls the function with them. Tolerance: [[tolerance]].


# %% id="limit"
def goodput_limit_mbps(rate_mbps, payload_bytes, framing_bytes):
    """The most application data that gets through a link, in Mbit/s."""
    # BEGIN SOLUTION
    frame_bytes = payload_bytes + 20 + 8 + framing_bytes
    return rate_mbps * payload_bytes / frame_bytes
    # END SOLUTION


# %% id="limit-check"
chapter.check.limit(goodput_limit_mbps)

# %% [markdown] id="staircase-text"
# ### Below, at and above the limit
#
# Now offer more and more. One run climbs a staircase of rates, 10 s each, with a pause after each step in which
# the queue drains. The dashed line is your function, if it passes its check. The strip below the figure shows the
# *residual*: measured minus theory, in per cent of theory.


# %% id="staircase"
def staircase(rates_mbps):
    """Run h1 with each rate for 10 s, one after the other, with a pause of 1 s after each."""
    send_s = nl.run_length_s(10, real_s=4)  # 10 s of virtual time; 4 s where you have to wait
    steps = [
        nl.Udp(
            "h1", "h3", rate_mbps=rate_mbps, spacing="even", start_s=start_s, duration_s=send_s
        )
        for start_s, rate_mbps in zip(np.arange(100) * (send_s + 1), rates_mbps)
    ]
    return nl.run(network, steps, duration_s=len(steps) * (send_s + 1), interval_s=1)


# take(...) gives your function if it passes its check, else the chapter's own.
limit = chapter.check.limit.take(goodput_limit_mbps, chapter.check.limit.reference)
offered_mbps = [1, 2, 3, 4, 4.5, 5, 6, 8, 10, 20]
climb = staircase(offered_mbps)
goodput_mbps = climb.flows["goodput_mbps"]

# %% id="staircase-figure" tags=["figure", "folded"]
nl.plots.Comparison(
    "Offered rate (Mbit/s)", "Goodput (Mbit/s)", "Goodput against offered rate"
).add(
    "measured",
    offered_mbps,
    goodput_mbps,
    np.linspace(0.1, 21, 400),
    lambda offered: np.minimum(offered, limit(5, 1000, 38)),
    published=([5, 10, 20], [4.798, 4.798, 4.798]),
)

# %% id="staircase-compare"
at_5_mbps = goodput_mbps[offered_mbps.index(5)]
at_10_mbps = goodput_mbps[offered_mbps.index(10)]
print(f"at 10 Mbit/s: {at_10_mbps:.3f}; published by epfl: 4.798")
goodput_prediction.compare(at_5_mbps, theory=limit(5, 1000, 38))

# %% [markdown] id="changed-text"
# ### Change one thing
#
# Datagrams of 200 bytes, not 1000. By how much does the limit fall? Say it, then run.

# %% id="changed"
changed_payload_bytes = 200
for payload_bytes in (1000, changed_payload_bytes):
    flow = nl.Udp("h1", "h3", rate_mbps=10, payload_bytes=payload_bytes)
    changed_run = nl.run(network, [flow], nl.run_length_s(10, real_s=4))
    mbps, most_mbps = changed_run.flows["goodput_mbps"][0], limit(5, payload_bytes, 38)
    print(f"{payload_bytes} bytes: {mbps:.2f} Mbit/s, your limit {most_mbps:.2f}")

# %% [markdown] id="gap-text"
# **They differ.** Above the limit [[4.798 = at_10_mbps | .3f]] Mbit/s arrive. The theory of the wire allows 4.690, so the measurement is higher by
# [[2.3 % = at_10_mbps / 4.69 - 1 | 0.0225 .. 0.0235]] of the theory. The `epfl` lab saw the same and called it close. But our
# measurement and the published one agree to four digits.
#
# So the link must count fewer bytes than a wire carries. How many? Measure it.
#
# ### Exercise 2: a measurement of your own
#
# Build a link of your own and keep it busy:
#
# - hosts `h1` and `h2`, joined by one link of [[rate_mbps]] Mbit/s with a queue of [[queue_packets]] packets;
# - one UDP flow (`nl.Udp("h1", "h2", rate_mbps=..., payload_bytes=...)`) with datagrams of [[payload_bytes]] bytes, at a
#   rate that you choose so that the link is never idle;
# - 5 s or more. Keep what `nl.run` returns as `my_run`.

# %% id="overload"
my_run = ...
# BEGIN SOLUTION NO PROMPT
my_network = nl.Topology(
    hosts=["h1", "h2"],
    links=[nl.Link("h1", "h2", rate_mbps=own.rate_mbps, queue_packets=own.queue_packets)],
)
my_flow = nl.Udp("h1", "h2", rate_mbps=2 * own.rate_mbps, payload_bytes=own.payload_bytes)
my_run = nl.run(my_network, [my_flow], duration_s=5)
# END SOLUTION

# %% id="overload-check"
chapter.check.overload(my_run)

# %% [markdown] id="counted-text"
# ### Exercise 3: how many bytes did the link count?
#
# `my_run.flows` is a table with a row for each flow. Yours has one row, so `my_run.flows["goodput_mbps"].iloc[0]` is its goodput.
# Your link was busy all the time. How many bytes did it count for one datagram, payload and headers together? Tolerance: [[tolerance]].
# Then look at the table of frame parts: which of them did the link count?

# %% id="counted"
counted_bytes = ...
# BEGIN SOLUTION NO PROMPT
counted_bytes = own.rate_mbps * own.payload_bytes / my_run.flows["goodput_mbps"].iloc[0]
# END SOLUTION

# %% id="counted-check" tags=["minutes-5"]
chapter.check.counted(counted_bytes)

# %% [markdown] id="framing-text"
# **The explanation.** Our link is not a wire. Neither was the lab's, which Mininet made. Such a link is a queue in the Linux kernel, and the program `tc` sets its rate.
# The kernel counts what it keeps of a frame in memory. Network hardware adds the rest, and here there is none.
#
# There is a rival explanation: perhaps the link counts all 38 bytes and is 2.3 % too fast. Your run has tested it, because your
# datagrams have another size. Such a link of [[rate_mbps]] Mbit/s would carry $1.023 \cdot G_\text{max}$ with $F = 38$, that is
# [[rival_mbps:.3f]] Mbit/s of your data, and exercise 3 would give [[rival_bytes:.1f]] bytes. You have measured something else: the rival fails. (At [six sizes](#Optional:-the-rival-at-six-sizes), too.)
#
# Remember it as a rule: **theory must count what the link counts.** From here on $F = 14$: the Ethernet header and nothing else.
#
# ## Part 2: what a wrong choice costs you
#
# Too low a rate wastes the link. Too high a rate wastes datagrams. In the long run everything above $G_\text{max}$
# is lost:
#
# $$p = \max\left(0,\; 1 - \frac{G_\text{max}}{X}\right)$$
#
# Now a guess. A colleague tests the link for **3 s at 5 Mbit/s**. That is 4 % too much. Of his 1875 datagrams, how many are lost? Write your
# number into the next cell; the cell after it measures.

# %% id="short"
my_lost_datagrams = 75  # SOLUTION

short_prediction = nl.checks.predict(
    "lost of 1875 datagrams", my_lost_datagrams, low=0, high=1875
)

# %% id="short-run"
short = nl.run(network, [nl.Udp("h1", "h3", rate_mbps=5)], duration_s=3).flows.iloc[0]
short_prediction.compare(short["sent_datagrams"] - short["received_datagrams"])

# %% [markdown] id="perfect-words" tags=["minutes-6"]
# ### Exercise 4: explain it
#
# Write three sentences for the colleague, who now believes that the link carries 5 Mbit/s. Where are the datagrams that
# the link could not carry? When would the first one have been lost? (Give a number of seconds; $G_\text{max}$ is 4.798 Mbit/s.)
# What should he have looked at instead of the loss?
#
# <!-- BEGIN SOLUTION -->
# The link carries 4.798 Mbit/s, so 0.202 Mbit/s of what you sent were too much: 25 datagrams a second. They were not lost.
# They were in the queue, which was empty when you began. After 3 s there were 76 of them, and it holds 100. Those
# 100 places are full after $100 \cdot 8000 / 202\,000 = 4.0$ s; only then is the first datagram lost. The datagrams were late, not lost:
# the last one waited for about 0.13 s. You should have looked at the goodput, or at the delay, which grew all the time, or tested for longer.
#
# Rubric:
#
# - the queue takes the excess (offered less limit) while it has room: late, not lost;
# - about 4 s, from the room in the queue divided by the excess (not by the offered rate);
# - goodput or growing delay shows it, loss in a short test does not.
# <!-- END SOLUTION -->

# %% [markdown] id="delay-text"
# Now see the queue at work, at another rate: 5.2 Mbit/s. A ping goes the same way and waits in the same queue; its round-trip time (RTT)
# shows the wait. Theory: the wait grows evenly until the queue is full, and then it stays. A full queue of 100 packets of 1042 bytes takes
# $100 \cdot 1042 \cdot 8 / 5$ µs, that is 167 ms. Test yourself before you run it: after how many seconds is the queue full? There the dashed
# line of the figure (theory) bends.

# %% id="delay"
slow = nl.run(
    network,
    [nl.Udp("h1", "h3", rate_mbps=5.2), nl.Ping("h1", "h3", interval_s=0.217)],
    duration_s=10,
)

# %% id="delay-figure" tags=["figure", "folded"]
experiments.wait_figure(slow, 5.2, limit(5, 1000, 14))

# %% [markdown] id="delay-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Measured round trips lie [[1 to 2 ms = experiments.above_the_line_ms(slow, 5.2, limit(5, 1000, 14)).between(0.5, 2.5).all()]] above the line. The line counts what is in the queue. A ping also waits for
# what has left the queue and is still on the link. The slowest datagram took as long as
# [[101.9 = slow.flows["delay_max_ms"].iloc[0] / (1042 * 8 / 5000) | .1f]] datagrams need: 100 in the queue and 1.9 on the link. After 2 s [[more than a third = slow.pings[slow.pings["t_s"] > 2]["rtt_ms"].isna().mean() | 0.334 .. 0.45]] of the pings are lost, far more than of the datagrams. The datagrams come
# at equal intervals and take each place soon after it becomes free; a ping that comes later finds the queue full. A [second experiment](#Optional:-which-pings-are-lost) shows it.
#
# </details>
#
# **A queue hides an overload as long as it has room**: first the wait grows, then datagrams are lost.
#
# ## Part 3: what it costs the others
#
# Host `h1` sends the readings of a sensor at 1 Mbit/s and never changes. Host `h2` streams a video. The `epfl` lab has three
# scenarios: `h2` sends 0.5 (A1), 4 (A2) or 9 Mbit/s (A3). Here each of them lasts 15 s.
#
# A full queue drops the next packet, from either sender. If every datagram has the same chance to get through, each flow gets
# its proportional share of $G_\text{max}$ as soon as both together exceed it:
#
# $$G_i = X_i \cdot \min\left(1,\; \frac{G_\text{max}}{X_1 + X_2}\right)$$
#
# So far one host sent, at equal intervals of time. Now two send, and their datagrams leave at random moments (a *Poisson process*). The moments
# follow from a number, the *seed*. So we take five seeds, and their mean with its 95 % interval: of 100 such intervals about 95
# hold the true mean.

# %% id="shares"
seconds = nl.run_length_s(15, real_s=8)
offered_pairs_mbps = {"A1": (1, 0.5), "A2": (1, 4), "A3": (1, 9)}
senders = []
for step, rates_mbps in enumerate(offered_pairs_mbps.values()):
    when = {"start_s": step * (seconds + 1), "duration_s": seconds}
    senders += [nl.Udp("h1", "h3", rate_mbps=rates_mbps[0], **when)]
    senders += [nl.Udp("h2", "h3", rate_mbps=rates_mbps[1], **when)]
scenario = nl.Scenario(network, senders, duration_s=3 * (seconds + 1), interval_s=1)
found = experiments.by_scenario(nl.repeat(scenario, seeds=5))
print("Rates in Mbit/s; here: mean of five seeds and its 95 % interval")
print(experiments.shares_table(found).to_string(index=False))
modest = found.query("scenario == 'A3' and src == 'h1'")["loss_rate"].mean()
modest_prediction.compare(modest, theory=1 - nl.theory.udp_shares_mbps([1, 9], 5)[0])

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# The reason was right: a datagram finds the queue full whoever sent it, so the modest host loses the same fraction. What I left out are the
# headers. The link carries 4.798 Mbit/s of data, not 5, so $1 - 4.798 / 10 = 52$ % are lost in the long run. The measured 0.51 is a little lower,
# because in 15 s up to 100 datagrams are late rather than lost.
#
# Rubric:
#
# - compares the number with the measured 0.51, and says whether it was right;
# - names the mechanism: the queue does not know who sends too much, and drops the same fraction of both flows;
# - says what was left out: headers, or (with a prediction near 0) that the neighbour fills the queue.
# <!-- END SOLUTION -->

# %% [markdown] id="shares-why"
# <details><summary><b>Do they differ, and why?</b> (Open it when you have an answer of your own.)</summary>
#
# Hardly. Datagrams that come at random moments find the queue full equally often, so both hosts lose the same
# fraction (Wolff, 1982). The theory is for the long run. In 15 s up to 100 datagrams are late rather than lost: up to 1.1 % of A2's and 0.5 % of A3's. So
# [[the measured losses are a little lower = bool((found.query("scenario != 'A1'").groupby(["scenario", "src"])["loss_rate"].mean().to_numpy() < [0.0403, 0.0403, 0.5202, 0.5202]).all())]], and the theory may lie outside the interval. ([Equal intervals](#Optional:-clockwork) are different.)
#
# </details>
#
# The lesson is in the row of `h1` in A3: **it did nothing wrong, and it loses half of its data.** Nothing in UDP tells
# `h2` to stop.
#
# ## Part 4: an unknown bottleneck
#
# Without a map you can only *probe*: send for a while and see what arrives. The author of the `simpleperf` lab would double the rate
# until much is lost, then go back in smaller and smaller steps. That takes long, and part 3 has shown who else pays.
#
# ### Exercise 5: find it, and do no harm
#
# `probe(offered_mbps, duration_s)` sends datagrams of 1000 bytes at that rate for that time. It returns their goodput in Mbit/s: the data
# that arrived, divided by the time in which it arrived. Between two probes all queues drain. Write the function that returns the *rate* of the
# slowest link (not the goodput). It lies between 2 and 60 Mbit/s, its links count $F = 14$, and each queue has room for 100 packets.
# You may probe at any rate. Your budget:
#
# - at most **8 probes**, each 0.01 s or longer (fewer are welcome);
# - at most **50 lost datagrams**, all probes together.
#
# What part 2 says about queues helps. A worked number: on a path of 30 Mbit/s, `probe(20, 1)` returns 20 and loses nothing; `probe(40, 1)` loses 1301 datagrams, far too
# many; the function returns 30. Tolerance: [[tolerance]].


# %% id="search"
def find_rate_mbps(probe):
    """Rate of the slowest link in Mbit/s, found by probing."""
    # BEGIN SOLUTION
    # 60 Mbit/s for 0.01 s are 75 datagrams: fast enough for every path, too few to fill a
    # queue.
    goodput_mbps = probe(60, 0.01)
    return goodput_mbps * (1000 + 28 + 14) / 1000
    # END SOLUTION


# %% id="search-check" tags=["minutes-16"]
chapter.check.search(find_rate_mbps)

# %% [markdown] id="hidden-text"
# The check only computed what a probe returns. Now your function probes a real path of four links.

# %% id="hidden"
print(experiments.on_the_hidden_path(chapter.check.search.take(find_rate_mbps, None), own))

# %% [markdown] id="hidden-why"
# What leaves a bottleneck leaves it at the bottleneck's rate, so a short burst is enough. Bandwidth tests use such *packet trains* (Dovrolis and others,
# 2004). The trick has a limit: when others send through the same link, the goodput of your burst is only your share (part 3).

# %% [markdown] id="summary"
# ## Summary
#
# 1. A link of rate $R$ carries at most $R \cdot P / (P + 28 + F)$ of data, and $F$ is what *this* link counts: 14 bytes
#    under `tc`, 38 on a wire.
# 2. Whatever UDP offers above that is lost; before the loss comes the wait, and a queue hides an overload until it is full.
# 3. A sender that sends too much harms the others as well. A short burst finds an unknown limit without harm.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The panel runs 10 s of UDP into 5 Mbit/s. Earlier runs stay, faded. **Which rate would you choose?** Find the highest one with a mean
# delay below 20 ms.

# %% id="panel" tags=["figure", "nbval-ignore-output"]
chapter.panel()

# %% [markdown] id="more-rival"
# ## Optional: the rival at six sizes
#
# An explanation found after the fact should be tested on something new. Two experiments tell ours and the rival apart.
#
# 1. *Vary the payload.* Forgotten bytes weigh more when datagrams are small. A link that is too fast is too fast by the same factor for all sizes.
# 2. *Count the forgotten bytes.* `tc` can be told to add them (here: `framing="ethernet"`). If the explanation is
#    right, measurement then meets the theory of the wire.

# %% id="framing" tags=["figure"]
payloads_bytes = [64, 128, 256, 512, 1000, 1472]
overload = [
    nl.Udp(
        "h1",
        "h3",
        rate_mbps=6,
        payload_bytes=payload_bytes,
        spacing="even",
        start_s=2 * step,
        duration_s=1,
    )
    for step, payload_bytes in enumerate(payloads_bytes)
]


def three_pcs(framing):
    return nl.topologies.three_pcs(rate_mbps=5, queue_packets=100, framing=framing)


as_tc = nl.run(three_pcs("tc"), overload, duration_s=12)
as_wire = nl.run(three_pcs("ethernet"), overload, duration_s=12)
experiments.framing_figure(payloads_bytes, as_tc, as_wire, limit)

# %% [markdown] id="more-loss"
# The rival fails: with small datagrams it is far from the measurement. The explanation passes twice.
#
# ## Optional: the loss rate, and 76.43 per cent
#
# Here is the staircase beside the formula of part 2. The figure shows the second half of each step, when the queue is full.

# %% id="loss" tags=["figure", "folded"]
late_loss = experiments.second_half_loss(climb)

nl.plots.Comparison(
    "Offered rate (Mbit/s)", "Loss rate", "Loss rate against offered rate", residual="absolute"
).add(
    "measured",
    offered_mbps,
    late_loss,
    np.linspace(0.1, 21, 400),
    lambda offered: nl.theory.udp_loss_rate(offered, 5),
    published=([5, 10, 20], [0.0403, 0.5203, 0.7643]),
)

# %% [markdown] id="loss-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Only the published loss at 20 Mbit/s does: 76.43 % where theory and our link have 76.01 %. A goodput of 4.798 Mbit/s
# and a loss of 76.43 % belong together if the sender sent $4.798 / (1 - 0.7643) = 20.36$ Mbit/s. Here are all three published rates, and
# this one.
#
# </details>
#
# What is in the queue when a sender stops after $d$ seconds is late, not lost. So a whole step loses less than its second half:
#
# $$p = \max\left(0,\; 1 - \frac{G_\text{max} + Q \cdot P \cdot 8 / (10^6\, d)}{X}\right)$$

# %% id="loss-table"
rates_mbps = [5, 10, 20, 20.36]
again = staircase(rates_mbps)
print("Goodput in Mbit/s; loss rate in a step's second half and in all of it")
print(experiments.rates_table(again, rates_mbps).to_string(index=False))

# %% [markdown] id="loss-table-why"
# So a sender that is 1.8 % too fast is *one* way to the published number. Whether it was the way, we cannot know.
#
# ## Optional: part 3 beside the published results

# %% id="shares-figure" tags=["figure"]
experiments.shares_figure(found)

# %% id="shares-published"
print("Goodput in Mbit/s; loss rates")
print(experiments.published_shares(found).to_string(index=False))

# %% [markdown] id="more-tcp"
# ## Optional: the same with TCP
#
# The `epfl` lab sent TCP over the same link: 4.782 Mbit/s, against its theory of 4.850. This time *less* arrives than its theory
# allows. The theory took segments as Wireshark showed them, with 2896 bytes of data; 52 bytes of TCP and IP and 38 of framing make 2986. But no Ethernet frame is that long. To save
# work, the kernel hands several segments on as one and splits them just before the link. (This is *segmentation offload*.) Wireshark looks
# before the split. On the link each segment has 1448 bytes of data, 32 of TCP, 20 of IP, and 14 of Ethernet:
# $5 \cdot 1448 / 1514 = 4.782$ Mbit/s.

# %% id="tcp"
# nl.run_length_s(30, 12): 30 s in virtual time; 12 s where you have to wait for all of them.
for framing in ("tc", "ethernet"):
    run = nl.run(
        nl.topologies.three_pcs(rate_mbps=5, queue_packets=100, framing=framing),
        [nl.Tcp("h1", "h3")],
        duration_s=nl.run_length_s(30, 12),
        interval_s=1,
    )
    expected_mbps = nl.theory.tcp_goodput_limit_mbps(5, framing=framing)
    print(
        f"{framing:8} framing: measured {run.goodput_mbps(after_s=5).iloc[0]:.3f} Mbit/s, "
        f"theory {expected_mbps:.3f}"
    )

# %% [markdown] id="more-mega"
# ## Optional: which mega?
#
# The `simpleperf` lab measured three paths with iperf, each at the rate of its slowest link, and lost 7.2 to 7.3 % (two of them are here). Our theory
# says otherwise. Iperf's datagrams carry 1470 bytes, so a link of 30 Mbit/s carries $30 \cdot 1470 / 1512 = 29.17$ Mbit/s of data: a sender that offers 30 loses 2.8 %.
#
# Look at what the lab printed for h1-h4: 26752 datagrams in 10 s. That is $26752 \cdot 1470 \cdot 8 / 10$ bit/s $= 31.46$ Mbit/s, and
# $30 \cdot 2^{20} = 31.46 \cdot 10^6$. So the M of iperf's `30M` was $1024^2$, and the sender was 4.9 % faster than the lab believed.

# %% id="mega"
mebi = 2**20 / 1e6
lab = nl.topologies.portfolio()
for src, dst, rate, their_mbps, their_loss in (
    ("h1", "h4", 30, 29.1, 0.072),
    ("h1", "h9", 20, 19.4, 0.073),
):
    flow = nl.Udp(src, dst, rate_mbps=rate * mebi, payload_bytes=1470)
    row = nl.run(lab, [flow], duration_s=10).flows.iloc[0]
    print(
        f"{src}-{dst} at {rate * mebi:.2f} Mbit/s: goodput {row['goodput_mbps']:.2f}, "
        f"published {their_mbps}\n"
        f"  loss {row['loss_rate']:.1%}, in the long run "
        f"{nl.theory.udp_loss_rate(rate * mebi, rate, 1470):.1%}, "
        f"published {their_loss:.1%}"
    )

# %% [markdown] id="more-wire"
# The datagrams that are in the queue at the end are late and not lost, so a test of 10 s loses a little less than the long run. Before you
# explain a gap by noise, check the units: which bytes are counted, and which mega.
#
# ## Optional: a real wire
#
# The `siit` lab (ITS 413, *Internet Technologies and Applications*, SIIT Thammasat) sent UDP and TCP over a real cable of 100 Mbit/s, which spends all
# 38 bytes. Theory: $100 \cdot 1470 / 1536 = 95.70$ Mbit/s for iperf's datagrams and $100 \cdot 1448 / 1538 = 94.15$ for TCP. The lab read 95 from its
# curve, to the nearest 1 Mbit/s at best, and 94.5 for TCP. Why that is 0.4 % above theory, the lab does not say. (A guess: a sender's report also
# counts data that is still in its buffers. No run of ours can show what happened on the computers of others, so such reasons stay guesses in all chapters.)

# %% id="wire"
link = nl.Link("h1", "h2", rate_mbps=100, queue_packets=100, framing="ethernet")
cable = nl.Topology(hosts=["h1", "h2"], links=[link])
udp = nl.run(cable, [nl.Udp("h1", "h2", rate_mbps=125, payload_bytes=1470)], duration_s=1)
tcp = nl.run(cable, [nl.Tcp("h1", "h2")], duration_s=10)
print(
    f"UDP {udp.flows['goodput_mbps'].iloc[0]:.2f} Mbit/s, published 95; "
    f"TCP {tcp.flows['goodput_mbps'].iloc[0]:.2f} Mbit/s, published 94.5"
)

# %% [markdown] id="more-pings"
# ## Optional: which pings are lost
#
# In part 2 far more pings than datagrams are lost. If equal intervals are the reason, datagrams at random moments must lose as many. Here are 30 s of them, with eight seeds.

# %% id="random-pings"
pings = nl.Ping("h1", "h3", interval_s=0.217)
datagrams = nl.Udp("h1", "h3", rate_mbps=5.2, spacing="random")
lost = nl.repeat(nl.Scenario(network, [datagrams, pings], duration_s=30), seeds=8)
lost_percent = {
    kind: nl.interval(100 * rows["loss_rate"]) for kind, rows in lost.groupby("kind")
}
print(f"lost pings: {lost_percent['ping']:.1f} %; datagrams: {lost_percent['udp']:.1f} %")

# %% [markdown] id="random-pings-why"
# Now [[6.4 ± 1.1 = f"{lost_percent['ping']:.1f}" | s]] % of the pings are lost, and [[7.3 = lost_percent["udp"].mean | .1f]] % of the datagrams: no more than chance.

# %% [markdown] id="more-clockwork"
# ## Optional: clockwork
#
# Let both hosts of part 3 send at exactly equal intervals, `h1` every 8 ms, `h2` every 2 ms (4 Mbit/s) or less. The two are synchronized: a datagram
# of `h1` always comes just before the next one of `h2`, so nearly one interval of `h2` after the last. The queue is full, so `h1` gets through if a place became free in
# this interval. The link frees one every 1.667 ms, at moments that drift against both. So `h1`'s goodput is in theory
# $\min(1,\, \text{interval of } h_2 / 1.667\,\text{ms})$ Mbit/s, whatever its fair share is.

# %% id="clockwork"
seconds = nl.run_length_s(10, real_s=5)
others_mbps = [4, 6, 9]
clocks = []
for step, rate_mbps in enumerate(others_mbps):
    when = {"start_s": step * (seconds + 1), "duration_s": seconds, "spacing": "even"}
    clocks += [nl.Udp("h1", "h3", rate_mbps=1, **when)]
    clocks += [nl.Udp("h2", "h3", rate_mbps=rate_mbps, **when)]
run = nl.run(network, clocks, duration_s=3 * (seconds + 1), interval_s=1)
print("Rates in Mbit/s")
print(experiments.clockwork_table(run, others_mbps).to_string(index=False))

# %% [markdown] id="clockwork-why"
# With `h2` at 4 Mbit/s the modest host loses nothing and `h2` bears all the losses (the last two columns). (It gets a little less than 1 Mbit/s, because its last
# datagrams arrive late, from a full queue.) This is a *phase effect* (Floyd and Jacobson, 1992). The published results are near what equal chances give. Does that show that the lab's
# senders were irregular? Let `h2` start a little later, and look for a moment at which both clocks lose equally much.

# %% id="clock-starts"
my_starts_ms = (0, 1)
# BEGIN SOLUTION
my_starts_ms = (0, 0.6, 1.2, 1.4, 1.6, 1.8)
# END SOLUTION
clock_losses = {}
for late_ms in my_starts_ms:
    first = nl.Udp("h1", "h3", rate_mbps=1, spacing="even")
    second = nl.Udp("h2", "h3", rate_mbps=4, spacing="even", start_s=1 + late_ms / 1000)
    loss_rates = nl.run(network, [first, second], duration_s=15).flows["loss_rate"]
    clock_losses[late_ms] = loss_rates
    print(f"{late_ms} ms later: h1 loses {loss_rates[0]:.1%}, h2 {loss_rates[1]:.1%}")

# %% [markdown] id="clock-starts-why"
# <details><summary><b>Our search</b> (Open it when you have yours.)</summary>
#
# At 1.4 ms `h1` loses [[2.6 = 100 * clock_losses[1.4][0] | .1f]] % and `h2` [[2.9 = 100 * clock_losses[1.4][1] | .1f]] %, nearly equal parts. So the published numbers do not tell irregular senders from clocks.
#
# </details>
#
# (The lab's own theory for A2 was 0.938 and 3.752 Mbit/s, because it counted 38 bytes. With 14 it agrees with what the lab
# measured to half a per cent.)
#
# ## Open exercises
#
# 1. Offer 6 Mbit/s in the panel and shorten the queue. What gets better, what does not?
# 2. The `epfl` sender uses datagrams of 125 bytes below 50 kbit/s. What is the limit of our link for them? Predict, then measure.
# 3. A voice call tolerates 20 ms of waiting. How many packets may the queue hold at 5 Mbit/s? Build that link and find the price.
# 4. Start `h1` of scenario A2 (with `spacing="even"`) 0.5, 1, 1.5 … ms after `h2`. Who loses, as a function of the start?
# 5. Write `probe` yourself, as a run over a path of yours whose slowest link has `loss_rate=0.02`. Does your search still find the rate? If not, improve it.
# 6. **Challenge.** On that path, without the random loss, let a second host send 10 Mbit/s through the bottleneck while you probe. Can you still find its *rate*, in the budget of exercise 5? Dovrolis
#    and others look at the distance between packets.
#
# ## Sources
#
# - J. Postel, *User Datagram Protocol*, RFC 768, 1980.
# - L. Eggert, G. Fairhurst, G. Shepherd, *UDP Usage Guidelines*, RFC 8085, 2017. What a sender of UDP owes the others.
# - S. Bradner, J. McQuaid, *Benchmarking Methodology for Network Interconnect Devices*, RFC 2544, 1999. Section 26.1 finds the highest
#   rate without loss.
# - S. Floyd, V. Jacobson, *On Traffic Phase Effects in Packet-Switched Gateways*, Internetworking: Research and Experience, 1992.
# - R. Wolff, *Poisson Arrivals See Time Averages*, Operations Research, 1982.
# - C. Dovrolis, P. Ramanathan, D. Moore, *Packet-Dispersion Techniques and a Capacity-Estimation Methodology*, IEEE/ACM Transactions on
#   Networking, 2004.
# - `man tc-tbf` and `man tc-stab`: what the kernel counts as a packet's size, and how to add to it.
# - The labs: `epfl`, sections 1.1 to 1.3; `simpleperf`, test case 1; `siit`, task 1.1.
#
# ## Limits
#
# Everything here ran through Linux's own UDP, IP and queues. But time was virtual: computing takes no time, so nothing on this page shows what a
# slow CPU does to a fast sender. The link drops only when its queue is full, while `epfl`'s router drops and marks earlier (RED, ECN; chapter 12); a sender that
# does not react loses the same in the long run, but not at the same moments. One link was the bottleneck at a time, and no other traffic was on the
# hidden path. On a real host the sending socket may wait for its own network card.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = climb.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
