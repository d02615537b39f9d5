# %% [markdown] id="title"
# # Queues that speak up
#
# **Can we have a full link and an empty queue?**
#
# After this chapter you can
#
# 1. say what a long queue costs everybody who shares it, in milliseconds and in page load time;
# 2. read in a capture how a queue marks packets instead of dropping them (ECN), and who must agree to it;
# 3. choose a queue discipline by what it does to delay, throughput and neighbours.
#
# *Time*: [[minutes]] minutes. *Builds on*: BDP; Congestion control. *Runs on*: any machine on which the next cell
# says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import math

import netlab as nl
from netlab_course.chapters import queues
from netlab_course.chapters.queues import experiments

chapter = queues.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results. Nobody grades them.
#
# - Before a link of 5 Mbit/s is a queue with room for 1000 packets. Two TCP flows send as fast as they may. What is the mean
#   round-trip time, when the wires themselves take no time?
# - A page of 100 kB comes over an idle link of 20 Mbit/s, with a round-trip time of 20 ms, in about 0.1 s. Now a
#   neighbour downloads something large through the same link, behind a queue of 1000 packets. How many seconds does the page take?

# %% id="predict"
my_rtt_ms = 1000  # SOLUTION
my_page_s = 0.5  # SOLUTION

rtt_prediction = nl.checks.predict("mean round-trip time", my_rtt_ms, unit="ms", low=0, high=100_000)
page_prediction = nl.checks.predict("page beside a download", my_page_s, unit="s", low=0.05, high=100)

# %% [markdown] id="network-text"
# ## The network
#
# Two senders, one receiver, one slow link before it. All of the propagation delay is on the way back. Only the queue
# before the slow link will change in this chapter.

# %% id="network" tags=["figure"]
network = chapter.settings.one_link(rate_mbps=5, base_rtt_ms=0, queue_packets=1000)
nl.plots.topology(network, title="Everything waits in one queue")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s ($10^6$ bit/s) | rate of a link |
# | $T$ | `rtt_ms` | ms (in formulas s) | round-trip time, queueing included |
# | $T_0$ | `base_rtt_ms` | ms | round-trip time with empty queues |
# | $Q$ | `queue_packets` | packets | room in the queue before the link |
# | $B$ | `bdp_bytes` | bytes | bandwidth-delay product, $R \cdot T_0$ |
# | $k$ | `threshold_packets` | packets | queue at which marking begins |
# | $m$ | `marked_share` | fraction | share of packets that came back marked |
#
# ## Part 1: the long queue
#
# A queue is there for bursts. But TCP fills whatever room it finds: it learns of a full queue by a loss, and not before.
# A large drop-tail queue that stays full is called **bufferbloat**.
#
# A packet that finds $Q$ frames before it waits until all of them have been sent: $8 \cdot 1514\,Q / R$, with frames of 1514 bytes.
#
# ### Exercise 1: a call beside a download
#
# `h1` downloads, `h2` makes a call over the same link: `chapter.settings.call_beside_download(own)` has [[rate_mbps]] Mbit/s and a drop-tail queue of [[queue_packets]] packets.
# The column `delay_ms` of the call is the mean delay of its datagrams, nearly all of it in the queue. Is it the wait behind a full queue?
# As in the chapter BDP: `my_table` of `nl.repeat` with 8 to 30 seeds of your choice, `my_interval` of `nl.interval`, `my_figure` with the value of each seed and the
# interval, and `my_verdict`: is the wait behind a full queue `"above"` your interval, `"inside"` it or `"below"` it?

# %% id="repeated"
my_table = my_interval = my_figure = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_table = nl.repeat(chapter.settings.call_beside_download(own), seeds=10)
my_rows = my_table[my_table["kind"] == "udp"]
my_interval = nl.interval(my_rows["delay_ms"])
mean, half = my_interval
my_figure = my_rows.plot(kind="scatter", x="seed", y="delay_ms", title="A call beside a download")
my_figure.add_hrect(y0=mean - half, y1=mean + half, opacity=0.2)
my_figure.update_yaxes(title_text="Delay of the call (ms)")
theory = 8 * 1514 * own.queue_packets / (1000 * own.rate_mbps)
my_figure.add_hline(y=theory, annotation_text="theory")
my_verdict = "above" if theory > mean + half else "below" if theory < mean - half else "inside"
# END SOLUTION
my_finding = [my_table, my_interval, my_figure, my_verdict]

# %% id="repeated-check" tags=["figure", "minutes-13"]
chapter.check.repeated(my_finding)

# %% [markdown] id="lab-text"
# ### What the published lab measured
#
# `epfl` is lab 5 of *TCP/IP Networking*, EPFL, 2021. Its last part sends two flows through this network in three ways: CUBIC
# with room for 1000 packets; CUBIC with **RED** (Random Early Detection), which drops early, here from 20 packets on and
# nearly everything above 23; and DCTCP with the same RED, which marks packets instead of dropping them. We come to that soon.
# Each run is three minutes of network time; all three together take five seconds.

# %% id="lab"
lab = experiments.lab_runs()
print("Goodputs of the two flows, and their mean round-trip time")
print(experiments.lab_table(lab).to_string(index=False))

# %% id="lab-figure" tags=["figure"]
long_run = lab["CUBIC, 1000 packets"]
nl.plots.time_series(long_run, ("rtt_ms",), interfaces=["r1 to h3"], title="Two CUBIC flows and 1000 places")

# %% id="lab-compare"
late_rtt_ms = long_run.intervals.loc[long_run.intervals["t_s"] > experiments.LAB_SETTLED_S, "rtt_ms"].mean()
rtt_prediction.compare(round(late_rtt_ms, -2), theory=round(experiments.full_queue_wait_ms(1000, 5, 1514)))

# %% [markdown] id="lab-why"
# The goodputs are nearly the same in all three. The delay is not: [[over two seconds = float(late_rtt_ms) | 2000 .. 2422]], or fifty milliseconds. So nearly all of the queue
# was of no use here. (Begun at five other moments, both flows together had 4.7 or 4.8 Mbit/s in all three settings too, and RTTs of 2156 to 2172, 50 to 51 and 56 ms.) But look at the network: the path has no propagation delay; its BDP is 0, so it stays busy with almost no queue. With $T_0$ = 200 ms the BDP is 83 packets,
# CUBIC needs 0.43 of that, 35 packets (part 3), and a queue of 20 leaves 1 % of the link idle (0.8 to 1.3 % in five draws).
#
# **Why do they differ?** Theory is the wait behind a *full* queue; CUBIC gives up three tenths of its window at a
# loss, so the queue is between seven tenths and full. The published round-trip times go from 2000 to 5000 ms. A queue
# of 1000 full frames cannot hold a packet for more than 2422 ms. But the lab's captures show segments of 2986 bytes: with
# **segmentation offload** two frames travel as one packet and count as one. 1000 of those take twice as long. A guess:
# this is the reason. (`netlab replicate` also measures a queue of 2000 frames, and finds a mean of about 4200 ms.)
#
# ## Part 2: marks instead of losses
#
# A loss is a costly way of saying "slower". **ECN** (Explicit Congestion Notification, RFC 3168) says it with two bits of the
# IP header and two flags of TCP:
#
# | where | value | meaning |
# |---|---|---|
# | IP | 00 | this packet may not be marked |
# | IP | 10 | ECT(0): it may be marked |
# | IP | 11 | CE: a queue marked it |
# | TCP, from the receiver | ECE | a marked packet came |
# | TCP, from the sender | CWR | understood, the window is smaller now |
#
# Three must take part: the queue, the sender and the receiver. Let us look at the packets just before the receiver. Now the
# lab's RED may mark. There are three senders: CUBIC as Linux ships it, CUBIC with one setting changed (see the code), and DCTCP. Which of
# them makes the queue mark?

# %% id="capture"
red = chapter.settings.one_link(5, 0, aqm="red", aqm_options={**chapter.settings.LAB_RED, "ecn": True})
seen = {}
for name, congestion, sysctls in (
    ("CUBIC", "cubic", {}),
    ("CUBIC, one setting", "cubic", {"net.ipv4.tcp_ecn": 1}),
    ("DCTCP", "dctcp", {}),
):
    flows = [nl.Tcp("h1", "h3", congestion=congestion), nl.Tcp("h2", "h3", congestion=congestion)]
    seen[name] = nl.run(red, flows, duration_s=10, sysctls=sysctls, captures=[nl.Capture("r1", "h3")])
print("Packets at h3 in 10 s: data by their bits of ECN, ACKs with ECE, data with CWR")
print(experiments.ecn_table(seen).to_string(index=False))

# %% [markdown] id="verdict-words"
# ### Exercise 2: the lab's verdict
#
# The lab's students enabled ECN at the router, sent with CUBIC, captured, and found retransmissions and no packet with an ECN flag. The
# published solution says: "ECN is not working properly with CUBIC in this linux machine." Use the table. What was missing, and where?
# What did RED do instead? How would you prove it? Write four or five sentences.
#
# <!-- BEGIN SOLUTION -->
# Nothing was broken. Linux answers a request for ECN but does not make one by itself (`tcp_ecn` is 2), so all data left as
# 00, "may not be marked". A queue may not mark such packets, so RED dropped them: the first row shows no 10, no 11, and segments that were
# sent again. The router's setting was right; the sender's was missing. The proof is the second row: the same CUBIC, the
# same queue, one setting of the sender changed, and packets come as 10 and 11, ECE and CWR appear, and nothing is sent again.
#
# Rubric:
#
# - says that the sender must ask for ECN and that Linux's CUBIC did not, with the 00 of the first row;
# - says that the queue dropped what it could not mark (retransmissions);
# - names a comparison in which only the sender's setting changes.
# <!-- END SOLUTION -->

# %% [markdown] id="ecn_run-text"
# ### Exercise 3: a measurement of your own
#
# Show a transfer that is slowed down and loses nothing. Use `chapter.settings.one_link(...)` with [[rate_mbps]] Mbit/s and a
# base round-trip time of [[base_rtt_ms]] ms, a queue discipline that can mark, and one CUBIC flow, without `window_bytes`, for 20 s at least. The
# queue must mark, nothing may be sent again, and after 5 s the goodput must be 88 % of the link's limit at least. Keep the
# run as `my_run` and print what it shows.

# %% id="ecn_run"
my_run = ...
# BEGIN SOLUTION NO PROMPT
marking_queue = chapter.settings.one_link(own.rate_mbps, own.base_rtt_ms, aqm="codel", aqm_options={"ecn": True})
my_run = nl.run(marking_queue, [nl.Tcp("h1", "h3")], duration_s=20, sysctls={"net.ipv4.tcp_ecn": 1})
print(f"marks {my_run.queues['marks'].max():.0f}, sent again {my_run.flows['retransmits'].sum():.0f}")
print(f"goodput {my_run.goodput_mbps(after_s=5).iloc[0]:.1f} Mbit/s")
# END SOLUTION

# %% id="ecn_run-check"
chapter.check.ecn_run(my_run)

# %% [markdown] id="dctcp"
# ## Part 3: full and empty
#
# CUBIC answers a mark as it answers a loss (RFC 3168): whether one packet was marked or all, three tenths of the window go. To stay full
# through such a cut, the link needs a queue of 0.43 BDP. **DCTCP** (Data Center TCP, RFC 8257) listens
# to *how many* packets were marked. With the marked share $m$, averaged (the RFC calls it $\alpha$), each round trip with marks makes
#
# $$W \leftarrow W\left(1 - \frac{m}{2}\right).$$
#
# Few marks, a small cut. So its window swings by about $\sqrt{W/2}$ only, and a short queue bridges that.
#
# How does the number get back? ECE as above says only *that* a mark came, and repeats it until CWR. DCTCP's receiver sets ECE on the ACKs of marked packets alone (RFC 8257, section 3.2).
# Accurate ECN (RFC 9768; `tcp_ecn` of 3) returns the number of marks to any sender.
#
# ### Exercise 4: full and nearly empty
#
# `chapter.settings.marking(threshold_packets, rate_mbps, base_rtt_ms)` is the same link with a step: below the threshold nothing is
# marked, above it everything. Find a threshold for one DCTCP flow on a path of [[rate_mbps]] Mbit/s and [[base_rtt_ms]] ms: after 5 s the
# goodput must be 99.9 % of the link's limit at least, and the mean wait (round-trip time less the smallest) below
# [[most_wait_ms]] ms. Leave `window_bytes` out here, too. Allow yourself five runs of 20 s, so think before you try: how many packets fill the path, and by how many does the window swing?
# Keep the run as `best_run`.

# %% id="threshold_run"
best_run = ...
# BEGIN SOLUTION NO PROMPT
threshold_packets = math.ceil(nl.theory.bdp_bytes(own.rate_mbps, own.base_rtt_ms) / 1514 / 7)
step = chapter.settings.marking(threshold_packets, own.rate_mbps, own.base_rtt_ms)
best_run = nl.run(step, [nl.Tcp("h1", "h3", congestion="dctcp")], duration_s=20)
# END SOLUTION

# %% id="threshold_run-check"
chapter.check.threshold_run(best_run)

# %% id="thresholds" tags=["figure"]
steps = experiments.thresholds((1, 2, 3, 5, 8, 12, 18), own.rate_mbps, own.base_rtt_ms)
experiments.thresholds_figure(steps, own.rate_mbps, own.base_rtt_ms)

# %% [markdown] id="thresholds-why"
# DCTCP's authors (Alizadeh and others, 2010) derive a threshold which keeps the link full for any number of synchronized flows: more than a seventh of the
# BDP, in packets (the dotted line). It is a *sufficient* threshold: a smaller one may do. It says nothing about senders that halve.
#
# So the answer to the chapter's question is: nearly. Even a threshold of one packet costs [[only a per cent or two = 1 - float(steps["goodput_mbps"].iloc[0]) / nl.theory.tcp_goodput_limit_mbps(own.rate_mbps) | 0.003 .. 0.025]]: with
# one flow the swing is small.
#
# There is a catch. Above this threshold packets that may not be marked are *dropped*. A DCTCP flow and a CUBIC flow share the link, CUBIC without ECN and with it; then the same two with another queue. Five draws each, with other
# starting moments:

# %% id="together"
shared = experiments.together(seeds=(1, 2, 3, 4, 5))
print(shared.to_string(index=False))

# %% [markdown] id="together-why"
# In one queue DCTCP takes nearly everything. With ECN the CUBIC flow is marked and not dropped, but it still gives up three tenths each time, and gets [[a tenth at most = float(shared.iloc[1, 3].split()[0]) | 0.1 .. 1.9]]. So DCTCP stayed in data centres, where one owner sets all senders. **L4S** (RFC 9330) is the
# way out: two queues, one for senders that answer each mark a little, one for all others. **DualPI2** (RFC 9332) couples
# them: it serves the queue for small answers first, and marks it so often that both kinds of sender become about equally fast. In the third row both get [[a share of the same order = abs(float(shared.iloc[2, 3].split()[0]) / 9.5 - 1) < 0.5]], and
# DCTCP still waits little.
#
# But look at the fourth row. Now CUBIC asks for ECN, as yours did in exercise 3, and gets [[1.3 = float(shared.iloc[3, 3].split()[0]) | .1f]] Mbit/s beside DCTCP's [[17.8 = float(shared.iloc[3, 1].split()[0]) | .1f]]. Both senders write 10 into their packets, so both come into the queue
# for small answers, and CUBIC gives up three tenths at marks that are meant for DCTCP. A queue cannot see how a sender answers: **the packet has to say it.** So L4S has an identifier of its own, 01 or ECT(1) (RFC 9331), and 10 keeps the meaning of
# RFC 3168. (The sender made for L4S is called Prague. This kernel has DualPI2 and not Prague, so we use DCTCP, and the option `any_ecn`, which lets DualPI2 take 10 for 01.)
#
# ## Part 4: which queue would you choose?
#
# Most people cannot choose their neighbours' senders, but an operator chooses the queue. Four more to know:
#
# - **PIE**: steers a drop probability so that the wait is near 15 ms.
# - **CoDel**: drops (or marks) once every packet has waited longer than 5 ms for a whole 100 ms.
# - **fq_codel**: a queue for each flow, served in turn, each under CoDel, with marks for those who ask. Linux's default on many systems.
# - **CAKE**: the same idea for home routers, with more to set.
#
# Now 20 Mbit/s and 20 ms. `h1` downloads all the time. `h2` loads a page of 100 kB about every two seconds, six times, and sends
# a ping every 50 ms. Ten queues, five draws each with other starting moments; together about ten seconds. All senders use CUBIC without ECN, except with *CoDel, ECN*, where it asks for marks, and with DualPI2, where they use DCTCP.

# %% id="alone"
page = nl.Tcp("h2", "h3", num_bytes=100_000)
alone = nl.run(chapter.settings.one_link(), [page], duration_s=2)
print(f"the page alone: {experiments.page_times_s(alone)[0]:.2f} s")

# %% id="compared" tags=["figure"]
compared = experiments.compared()
experiments.compared_figure(compared)

# %% id="compared-table"
print("How much of the link is in use, mean waits, the median page, and the slowest of all pages")
print(experiments.pages_table(compared).to_string(index=False))
seen = experiments.seen(compared)
page_prediction.compare(round(seen["long drop-tail"]["page_s"].mean, 1))
alone_s = experiments.page_times_s(alone)[0]
senders = experiments.page_by_senders()

# %% [markdown] id="compared-why"
# The top left corner is the goal: a full link and quick pages. From each symbol a line goes to the slowest page. Behind the long drop-tail queue a page takes
# [[more than twenty times = seen["long drop-tail"]["page_s"].mean / alone_s | 20 .. 40]] as long as alone. Behind a tiny drop-tail queue packets hardly wait, but it leaves [[about a tenth = 1 - seen["drop-tail, 5"]["full"].mean | 0.07 .. 0.13]] of the link idle.
# A queue of one BDP is not bad for the download, but *all* others wait with it, and a page takes [[nearly twice as long as with CoDel = seen["drop-tail, 1 BDP"]["page_s"].mean / seen["CoDel"]["page_s"].mean | 1.5 .. 2.3]].
# A full queue drops packets of the page too: behind it [[every page = float((experiments.pages("drop-tail, 1 BDP")["retransmits"] > 0).mean()) | 1 .. 1]] of 70 packets has to send again, [[about ten packets = experiments.pages("drop-tail, 1 BDP")["retransmits"].mean() | 8 .. 12]] each; behind CoDel [[a quarter at most = float((experiments.pages("CoDel")["retransmits"] > 0).mean()) | 0.1 .. 0.25]] of the pages lose any.
#
# Look at the two columns of waits. With RED, PIE and CoDel all others wait [[about as long as the download = all(0.75 < seen[queue]["other_wait_ms"].mean / seen[queue]["bulk_wait_ms"].mean < 1.1 for queue in ("RED", "PIE", "CoDel"))]]. With fq_codel and CAKE
# the others wait [[a millisecond or so = max(seen[queue]["other_wait_ms"].mean for queue in ("fq_codel", "CAKE")) | 0 .. 1.7]]: the download waits in a queue of its own.
# A page behind one of these takes [[less than twice = max(seen[queue]["page_s"].mean for queue in ("RED", "CoDel", "CoDel, ECN", "fq_codel", "CAKE")) / alone_s | 1 .. 2]] as long as alone. The same holds for RED and CoDel. ECN makes [[no difference that these intervals show = abs(seen["CoDel"]["page_s"].mean - seen["CoDel, ECN"]["page_s"].mean) < seen["CoDel"]["page_s"].half_width]] to the median page: few pages lose a packet there, and those take [[only a little longer = experiments.slowed_by_loss("CoDel", draws=8) | 1.05 .. 1.3]].
#
# Pages of DCTCP beside a download of DCTCP are [[slower than with CoDel = seen["DualPI2, DCTCP"]["page_s"].mean - seen["DualPI2, DCTCP"]["page_s"].half_width > sum(seen["CoDel"]["page_s"])]], though [[they wait less = sum(seen["DualPI2, DCTCP"]["other_wait_ms"]) < seen["CoDel"]["other_wait_ms"].mean - seen["CoDel"]["other_wait_ms"].half_width]]. But this row changes the
# queue *and* the senders. With DualPI2 and each sender exchanged alone (five draws), a page of DCTCP takes [[0.35 s = senders["dctcp", "dctcp"].mean | 0.34 .. 0.36]] beside DCTCP and [[0.27 s = senders["dctcp", "cubic"].mean | 0.255 .. 0.28]] beside CUBIC; a page of CUBIC [[0.22 = senders["cubic", "dctcp"].mean | .2f]] s and [[0.20 = senders["cubic", "cubic"].mean | .2f]] s.
# So most of it is the page's *sender*. The slowest page is one of thirty and mostly chance: behind the tiny queue five other draws had one four times as slow.

# %% [markdown] id="summary"
# ## Summary
#
# A drop-tail queue is as full as TCP can make it, and all packets wait in it; a queue that signals early, by a drop or better by a mark,
# keeps nearly the same goodput at a small part of the delay. Marks need the sender to ask, the queue to mark and the receiver to
# echo; a sender that answers *how many* marks came (DCTCP, L4S) keeps a link full with a few packets waiting, but needs a queue of its own
# beside others. A queue for each flow protects each flow from all queues but its own.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The panel is part 4 with one number: for drop-tail the room in the queue, for the others the wait that they aim at, both in
# milliseconds of the link's time. Move a slider, and the experiment runs again; earlier runs stay in the figure, but fainter.
#
# 1. Drop-tail: start at 100 ms and go down. What is the smallest queue that keeps the link 99 % busy? Compare it with 0.43 of the
#    round trip (part 3), for round trips of 20 and of 40 ms.
# 2. CoDel at that wait: is the link as full, and the page as fast? And at its default of 5 ms?
# 3. Now `fq_codel`, and let its target grow to 100 ms: who waits, and who does not?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="live-text"
# ## Optional: make the link slow while a queue is running
#
# CoDel's setting is a time, not a number of packets. **What does it do when the link suddenly becomes slow?** A download (CUBIC) has run for
# 10 s over 20 Mbit/s. Press *Play* and move the sliders while it runs; every change is marked.
#
# - *Try*: set the rate to 2 Mbit/s. Wait until the queue is calm, and set it to 20 again. Then write `"fifo"` for
#   `"codel"` in the cell, run it again, and do the same.
# - *Look for*: how many packets are CoDel's 5 ms at each of the two rates? How high does the queue stand when the rate has just fallen, and how
#   many seconds does CoDel need to bring it down again? (It drops packets one at a time, the second 100 ms after the first.) How long do packets wait behind
#   drop-tail, with room for 1000 of them?

# %% id="live" tags=["nbval-ignore-output", "figure"]
nl.widgets.live(
    chapter.settings.one_link(aqm="codel"),
    [nl.Tcp("h1", "h3", congestion="cubic")],
    {("r1", "h3"): {"rate_mbps": (1, 100), "loss_rate": (0, 0.05), "queue_packets": (10, 1000)}},
    pace=5,
)

# %% [markdown] id="open"
# ## Open exercises
#
# - BBR needs no signal from a queue. Send it through the long drop-tail queue: where does it lie in the figure, and what happens to
#   pages of CUBIC beside it?
# - The panel has one download. Let four run behind drop-tail: which room fills the link now, and why less?
# - Pages of DCTCP are slow behind DualPI2. Are they marked in their first round trips, and do they leave slow start too early? Which measurement would refute this?
#
# ## Sources
#
# - J. Gettys and K. Nichols, Bufferbloat: dark buffers in the Internet, ACM Queue 9(11), 2011.
# - S. Floyd and V. Jacobson, Random Early Detection gateways, IEEE/ACM Transactions on Networking 1(4), 1993.
# - RFC 3168 (ECN), RFC 7567 (why queues should be managed), RFC 8289 (CoDel), RFC 8290 (fq_codel), RFC 8033 (PIE), RFC 8257
#   (DCTCP), RFC 9768 (Accurate ECN), RFC 9330, 9331 and 9332 (L4S, its identifier, DualPI2).
# - M. Alizadeh and others, Data Center TCP (DCTCP), ACM SIGCOMM 2010.
# - T. Høiland-Jørgensen, D. Täht and J. Morton, Piece of CAKE, IEEE LANMAN 2018.
# - `epfl`: Congestion control; TCP, UDP: lab 5 of *TCP/IP Networking*, EPFL, 2021, section 4.
#
# ## Limits
#
# One download and one neighbour; a home has more. DualPI2's step is 3 ms here, five frames of this link, because 1 ms
# is less than two frames, and DCTCP then gets 4.2 ± 0.2 Mbit/s beside CUBIC's 15.0 (five draws). RED is set as each part says; other settings give other
# waits. A ping is not a game or a call, but it waits as they do.

# %% id="versions" tags=["nbval-ignore-output"]
settings = long_run.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
