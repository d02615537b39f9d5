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

import numpy as np

import netlab as nl
from netlab_course.chapters import queues
from netlab_course.chapters.queues import experiments

chapter = queues.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the first one in a sentence. The numbers are not graded.
#
# - Before a link of 20 Mbit/s is a queue with room for 1000 packets. Four downloads send as fast as they may, and the path has a round-trip time of 20 ms. You send a
#   small request, wait for the answer, and send the next one. How many answers do you get in a minute?
# - A page of 100 kB comes over an idle link of 20 Mbit/s, with a round-trip time of 20 ms, in about 0.1 s. Now a
#   neighbour downloads something large through the same link, behind a queue of 1000 packets. How many seconds does the page take?

# %% id="predict"
my_answers = 300  # SOLUTION
my_page_s = 0.5  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "20 ms of the path and 180 ms behind four downloads make 0.2 s for each answer."
# END SOLUTION

rpm_prediction = nl.checks.predict(
    "answers in a minute", my_answers, low=1, high=10_000, reason=my_reason
)
page_prediction = nl.checks.predict(
    "page beside a download", my_page_s, unit="s", low=0.05, high=100
)

# %% [markdown] id="network-text"
# ## The network
#
# Two senders, one receiver, one slow link before it. All of the propagation delay is on the way back. In an
# experiment only its queue changes, or a sender.


# %% id="network" tags=["figure"]
def one_link(rate_mbps=20, base_rtt_ms=20, queue_packets=1000, **queue):
    """The network; `queue` has more fields of the slow link's queue, such as aqm="codel"."""
    way_back = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}
    way_back["delay_ms"] = base_rtt_ms
    queue = {"queue_packets": queue_packets, **queue}
    slow = nl.Link("r1", "h3", rate_mbps=rate_mbps, **queue, reverse=way_back)
    links = [nl.Link("h1", "r1"), nl.Link("h2", "r1"), slow]
    return nl.Topology(hosts=["h1", "h2", "h3"], routers=["r1"], links=links)


nl.plots.topology(one_link(), title="Everything waits in one queue")

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
# What do people notice? The wait for an answer. Here `h3` asks `h2` for 1000 bytes over an open connection, again and again, with a pause of 50 ms, and `h1` sends
# four downloads to it. The number of round trips that fit into a minute (without the pauses) is called the **responsiveness** of the path, in round trips per minute (RPM). Part 4 explains `fq_codel`.

# %% id="responsiveness"
asking = nl.Requests("h3", "h2", response_bytes=1000, think_s=0.05, start_s=5)
downloads = nl.Tcp("h1", "h3", streams=4)
cases = {
    "idle link": ([], {}),
    "downloads, 1000 packets": ([downloads], {}),
    "downloads, fq_codel": ([downloads], {"aqm": "fq_codel"}),
}
rpm = {}
for name, (load, queue) in cases.items():
    run = nl.run(one_link(**queue), [*load, asking], duration_s=20)
    rpm[name] = 60 / run.requests["completion_s"].mean()
    print(f"{name:25} {rpm[name]:5.0f} round trips per minute")
full_queue_s = 1000 * 1514 * 8 / 20e6
rpm_prediction.compare(rpm["downloads, 1000 packets"], theory=60 / (0.02 + full_queue_s))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# There are 108 answers, a third of my number. I guessed the wait and did not compute it. Downloads fill whatever queue there is: 1000 packets of
# 1514 bytes take 0.6 s over 20 Mbit/s. So an answer takes 0.55 s, nearly all of it in the queue, and the number of downloads hardly matters.
#
# Rubric:
#
# - compares the number with the measured 108;
# - TCP fills the queue up, however long it is;
# - the time of a full queue from its size and the rate, 0.6 s.
# <!-- END SOLUTION -->

# %% [markdown] id="responsiveness-why"
# The rate of the link is the same in all three. What does a speed test that shows Mbit/s alone not see? And why do theory and measurement differ?
#
# <details><summary><b>Our answer</b> (Open it when you have one of your own.)</summary>
#
# Behind the long queue an answer takes [[0.55 = 60 / rpm["downloads, 1000 packets"] | .2f]] s. With `fq_codel` the path [[answers nearly as quickly as without the downloads = rpm["downloads, fq_codel"] > 0.9 * rpm["idle link"]]]. That is a matter of waiting, not of the rate.
#
# Theory is for a *full* queue, 0.63 s. CUBIC gives up three tenths of its window at a loss, so the queue is mostly between seven tenths and full.
#
# </details>

# %% [markdown] id="changed-text"
# ### Change one thing
#
# A drop-tail queue of 250 packets in place of 1000. How many round trips fit into a minute? Say it, then run the cell.

# %% id="changed"
changed_packets = 250
shorter = one_link(queue_packets=changed_packets)
changed_run = nl.run(shorter, [downloads, asking], duration_s=20)
changed_rpm = 60 / changed_run.requests["completion_s"].mean()
print(f"1000 packets: {rpm['downloads, 1000 packets']:.0f} round trips per minute")
print(f"{changed_packets} packets: {changed_rpm:.0f} round trips per minute")

# %% [markdown] id="repeated-text"
# ### Exercise 1: a call beside a download
#
# `h1` downloads, `h2` makes a call over the same link. The link has [[rate_mbps]] Mbit/s and a drop-tail queue of [[queue_packets]] packets.
# The column `delay_ms` of the call is the mean delay of its datagrams, nearly all of it in the queue. A colleague says: "On average it is less than [[stated_ms]] ms." How long is the wait behind a full queue?
# Show with an interval whether he is right.

# %% id="repeated"
path = one_link(own.rate_mbps, own.base_rtt_ms, queue_packets=own.queue_packets)
call = nl.Udp("h2", "h3", rate_mbps=1, payload_bytes=500, spacing="random")
beside_download = nl.Scenario(path, [nl.Tcp("h1", "h3"), call], duration_s=30)
# Take 8 to 30 seeds in a row. my_refutation: a condition on the edges of an interval, such
# as "low > 1 and high < 2": for which intervals (in ms) is the statement refuted?
# my_verdict is "supported", "refuted" or "undecided".
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"low > {own.stated_ms}"
my_table = nl.repeat(beside_download, seeds=10)
my_rows = my_table[my_table["kind"] == "udp"]
my_interval = nl.interval(my_rows["delay_ms"])
mean, half = my_interval
if mean + half < own.stated_ms:
    my_verdict = "supported"
elif mean - half > own.stated_ms:
    my_verdict = "refuted"
else:
    my_verdict = "undecided"
# END SOLUTION
my_finding = [my_table, my_interval, my_refutation, my_verdict]

# %% id="repeated-check" tags=["minutes-8"]
chapter.check.repeated(my_finding)

# %% [markdown] id="marks-text"
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
# Three must take part: the queue, the sender and the receiver. We look at the packets just before the receiver. Queue and link (5 Mbit/s, no propagation delay) come from a published lab, `epfl` (lab 5 of *TCP/IP Networking*, EPFL, 2021): **RED** (Random Early
# Detection) answers early, here from 20 packets on and to nearly every packet above 23. It may mark. There are three senders: CUBIC as Linux ships it, CUBIC with one setting changed, and DCTCP. Which of
# them makes the queue mark?

# %% id="capture"
lab_red = {"min_packets": 20, "max_packets": 23, "probability": 1.0, "ecn": True}
red = one_link(5, 0, aqm="red", aqm_options=lab_red)
seen = {}
for name, congestion, sysctls in (
    ("CUBIC", "cubic", {}),
    ("CUBIC, one setting", "cubic", {"net.ipv4.tcp_ecn": 1}),
    ("DCTCP", "dctcp", {}),
):
    flows = [nl.Tcp(host, "h3", congestion=congestion) for host in ("h1", "h2")]
    capture = nl.Capture("r1", "h3")
    seen[name] = nl.run(red, flows, duration_s=10, sysctls=sysctls, captures=[capture])
print("Packets at h3: data by bits of ECN, ACKs with ECE, data with CWR")
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
# Show a transfer that is slowed down and loses nothing. Use `one_link(...)` with [[rate_mbps]] Mbit/s and a
# base round-trip time of [[base_rtt_ms]] ms, a queue discipline that can mark, and one CUBIC flow, without `window_bytes`, for 20 s at least. The
# queue must mark, nothing may be sent again, and after 5 s the goodput must be 88 % of the link's limit at least. Keep the
# run as `my_run` and print what it shows.

# %% id="ecn_run"
my_run = ...
# BEGIN SOLUTION NO PROMPT
marking_queue = one_link(
    own.rate_mbps, own.base_rtt_ms, aqm="codel", aqm_options={"ecn": True}
)
my_run = nl.run(
    marking_queue, [nl.Tcp("h1", "h3")], duration_s=20, sysctls={"net.ipv4.tcp_ecn": 1}
)
print(f"marks {my_run.queues['marks'].max():.0f}")
print(f"sent again {my_run.flows['retransmits'].sum():.0f}")
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
# ECE as above says only *that* a mark came. DCTCP's receiver sets it on the ACKs of marked packets alone (RFC 8257, section 3.2), so the sender can count.
#
# ### Exercise 4: full and nearly empty
#
# `marking(threshold_packets, rate_mbps, base_rtt_ms)` is the same link with a step: below the threshold nothing is
# marked, above it everything. Find the **smallest threshold** with which one DCTCP flow fills a path of [[rate_mbps]] Mbit/s and [[base_rtt_ms]] ms: after 5 s the
# goodput must be 99.9 % of the link's limit at least. (One packet more passes, too.) Leave `window_bytes` out here. Allow yourself
# five runs of 20 s, so think before you try: how many packets fill the path, and by how many does the window swing?
# Keep the run as `best_run`.


# %% id="marking"
def marking(threshold_packets, rate_mbps=20, base_rtt_ms=20):
    """The network whose queue marks everything above a threshold, and nothing below."""
    low, high = threshold_packets, threshold_packets + 1
    step = {"min_packets": low, "max_packets": high, "probability": 1.0, "ecn": True}
    return one_link(rate_mbps, base_rtt_ms, aqm="red", aqm_options=step)


# %% id="threshold_run"
best_run = ...
# BEGIN SOLUTION NO PROMPT
swing_packets = math.sqrt(nl.theory.bdp_bytes(own.rate_mbps, own.base_rtt_ms) / 1514 / 2)
full_mbps = chapter.settings.FULL * nl.theory.tcp_goodput_limit_mbps(own.rate_mbps)
for threshold_packets in range(math.ceil(swing_packets), 0, -1):
    step = marking(threshold_packets, own.rate_mbps, own.base_rtt_ms)
    tried = nl.run(step, [nl.Tcp("h1", "h3", congestion="dctcp")], duration_s=20)
    if tried.goodput_mbps(after_s=5).iloc[0] <= full_mbps:
        break
    best_run = tried
# END SOLUTION

# %% id="threshold_run-check"
chapter.check.threshold_run(best_run)


# %% [markdown] id="thresholds-text" tags=["optional"]
# ### Optional: seven thresholds
#
# Your flow behind seven thresholds, one after the other.


# %% id="thresholds" tags=["figure", "optional"]
def behind_a_step(threshold_packets):
    """A scenario: one DCTCP flow behind a step at this threshold."""
    network = marking(threshold_packets, own.rate_mbps, own.base_rtt_ms)
    flow = nl.Tcp("h1", "h3", congestion="dctcp")
    return nl.Scenario(network, [flow], duration_s=20, interval_s=0.1)


runs = nl.sweep({packets: behind_a_step(packets) for packets in (1, 2, 3, 5, 8, 12, 18)})
steps = experiments.thresholds_table(runs)
experiments.thresholds_figure(steps, own.rate_mbps, own.base_rtt_ms)

# %% [markdown] id="thresholds-why" tags=["optional"]
# <details><summary><b>Why do measurement and the dotted line differ?</b> (Open it when you have an answer of your own.)</summary>
#
# DCTCP's authors (Alizadeh and others, 2010) derive a threshold which keeps the link full for any number of synchronized flows: more than a seventh of the
# BDP, in packets (the dotted line). It is a *sufficient* threshold: a smaller one may do.
#
# Even a threshold of one packet costs [[only a per cent or two = 1 - float(steps["goodput_mbps"].iloc[0]) / nl.theory.tcp_goodput_limit_mbps(own.rate_mbps) | 0.003 .. 0.025]]: with
# one flow the swing is small.
#
# </details>

# %% [markdown] id="together-text"
# So the answer to the chapter's question is: nearly. But above the threshold packets that may not be marked are *dropped*. A DCTCP flow and a CUBIC flow share the link (a step at 10 packets; five seeds, 30 s each), CUBIC without ECN and with it; then both behind another queue:

# %% id="together"
ask_for_ecn = {"net.ipv4.tcp_ecn": 1}
coupled = one_link(aqm="dualpi2", aqm_options={"any_ecn": True, "step_ms": 3})
pairs = {
    "one queue, step of 10": (marking(10), {}),
    "the same, both with ECN": (marking(10), ask_for_ecn),
    "DualPI2": (coupled, {}),
    "DualPI2, both with ECN": (coupled, ask_for_ecn),
}


def dctcp_and_cubic(network, sysctls, seed):
    """DCTCP from h1 and CUBIC from h2, which start at random moments of the first 2 s."""
    starts_s = np.random.default_rng(seed).uniform(0, 2, size=2).round(3)
    dctcp = nl.Tcp("h1", "h3", congestion="dctcp", start_s=starts_s[0])
    flows = [dctcp, nl.Tcp("h2", "h3", start_s=starts_s[1])]
    how = {"duration_s": nl.run_length_s(30, real_s=20), "interval_s": 0.1, "sysctls": sysctls}
    return nl.Scenario(network, flows, seed=seed, **how)


# %% id="together-run"
scenarios = {
    (name, seed): dctcp_and_cubic(network, sysctls, seed)
    for name, (network, sysctls) in pairs.items()
    for seed in (1, 2, 3, 4, 5)
}
shared = experiments.together_table(nl.sweep(scenarios))
print(shared.to_string(index=False))

# %% [markdown] id="together-why"
# Why does DCTCP take nearly everything in one queue? Why does *DualPI2* help in the third row, and not in the fourth?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# In one queue a CUBIC flow that may not be marked loses its packets at the step. With ECN the CUBIC flow is marked and not dropped, but it still gives up three tenths each time, and gets [[a tenth at most = float(shared.iloc[1, 3].split()[0]) | 0.1 .. 1.9]]. So DCTCP stayed in data centres, where one owner sets all senders. **L4S** (RFC 9330) is the
# way out: two queues, one for senders that answer each mark a little, one for all others. **DualPI2** (RFC 9332) couples
# them: it serves the queue for small answers first, and marks it so often that both kinds of sender become about equally fast. In the third row both get [[a share of the same order = abs(float(shared.iloc[2, 3].split()[0]) / 9.5 - 1) < 0.5]], and
# DCTCP still waits little.
#
# But look at the fourth row. Now CUBIC asks for ECN, as yours did in exercise 3, and gets [[1.3 = float(shared.iloc[3, 3].split()[0]) | .1f]] Mbit/s beside DCTCP's [[17.8 = float(shared.iloc[3, 1].split()[0]) | .1f]]. Both senders write 10 into their packets, so both come into the queue
# for small answers, and CUBIC gives up three tenths at marks that are meant for DCTCP. A queue cannot see how a sender answers: **the packet has to say it.** So L4S has an identifier of its own, 01 or ECT(1) (RFC 9331), and 10 keeps the meaning of
# RFC 3168. (This kernel has no Prague, the sender made for L4S; `any_ecn` lets DualPI2 take 10 for 01.)
#
# </details>
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
# a ping every 50 ms. Ten queues, five draws each. All senders use CUBIC without ECN, except with *CoDel, ECN*, where it asks for marks, and with DualPI2, where they use DCTCP.

# %% id="alone"
page = nl.Tcp("h2", "h3", num_bytes=100_000)
alone = nl.run(one_link(), [page], duration_s=2)
print(f"the page alone: {experiments.page_times_s(alone)[0]:.2f} s")


# %% id="beside-pages"
def beside_pages(queue, seed, congestion="cubic", bulk=None, **more):
    """A scenario: a download of h1 (by `bulk`, or as pages), pings and six pages of h2."""
    draw = np.random.default_rng(seed)
    starts_s = 5 + 2.1 * np.arange(6) + draw.uniform(0, 1, 6)  # random moments
    pages = [
        nl.Tcp("h2", "h3", num_bytes=100_000, start_s=start_s, congestion=congestion)
        for start_s in starts_s.round(3)
    ]
    bulk_s = round(draw.uniform(0, 1), 3)
    download = nl.Tcp("h1", "h3", congestion=bulk or congestion, start_s=bulk_s)
    traffic = [download, nl.Ping("h2", "h3", interval_s=0.05), *pages]
    how = {"duration_s": 25, "interval_s": 0.1, "seed": seed, **more}
    return nl.Scenario(one_link(**queue), traffic, **how)


# %% id="ten-queues"
dualpi2 = {"aqm": "dualpi2", "aqm_options": {"any_ecn": True, "step_ms": 3}}
queues_and_senders = {
    "long drop-tail": {"queue": {"queue_packets": 1000}},
    "drop-tail, 1 BDP": {"queue": {"queue_packets": 33}},
    "drop-tail, 5": {"queue": {"queue_packets": 5}},
    "RED": {"queue": {"aqm": "red", "aqm_options": {"min_packets": 10, "max_packets": 30}}},
    "PIE": {"queue": {"aqm": "pie"}},
    "CoDel": {"queue": {"aqm": "codel"}},
    "CoDel, ECN": {
        "queue": {"aqm": "codel", "aqm_options": {"ecn": True}},
        "sysctls": ask_for_ecn,
    },
    "fq_codel": {"queue": {"aqm": "fq_codel"}},
    "CAKE": {"queue": {"aqm": "cake"}},
    "DualPI2, DCTCP": {"queue": dualpi2, "congestion": "dctcp"},
}
# %% id="compared" tags=["figure"]
scenarios = {
    (name, seed): beside_pages(seed=seed, **case)
    for name, case in queues_and_senders.items()
    for seed in (1, 2, 3, 4, 5)
}
ten_queues = nl.sweep(scenarios)
compared = experiments.compared_table(ten_queues)
experiments.compared_figure(compared)

# %% id="compared-table" tags=["folded"]
print("Use of the link, mean waits, the median page, and the slowest page")
print(experiments.pages_table(compared).to_string(index=False))
seen = experiments.mean_intervals(compared)
page_prediction.compare(round(seen["long drop-tail"]["page_s"].mean, 1))
alone_s = experiments.page_times_s(alone)[0]
pages = {name: experiments.pages(ten_queues, name) for name in queues_and_senders}
by_seed = compared.pivot(index="seed", columns="queue", values="page_s")
ecn_saves_ms = nl.interval(1000 * (by_seed["CoDel"] - by_seed["CoDel, ECN"]))
print(f"ECN saves CoDel's pages {ecn_saves_ms:.0f} ms (pairs of a draw)")

# %% [markdown] id="compared-why"
# The top left corner is the goal: a full link and quick pages. From each symbol a line goes to the slowest page. Which queues reach the corner? The two columns of waits tell apart two kinds of them: which, and why?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Behind the long drop-tail queue a page takes
# [[more than twenty times = seen["long drop-tail"]["page_s"].mean / alone_s | 20 .. 40]] as long as alone. Behind a tiny drop-tail queue packets hardly wait, but it leaves [[about a tenth = 1 - seen["drop-tail, 5"]["full"].mean | 0.07 .. 0.13]] of the link idle.
# A queue of one BDP is not bad for the download, but *all* others wait with it, and a page takes [[nearly twice as long as with CoDel = seen["drop-tail, 1 BDP"]["page_s"].mean / seen["CoDel"]["page_s"].mean | 1.5 .. 2.3]].
# It drops packets of the page too: behind it [[every page = float((pages["drop-tail, 1 BDP"]["retransmits"] > 0).mean()) | 1 .. 1]] of 70 packets has to send again, [[about ten packets = pages["drop-tail, 1 BDP"]["retransmits"].mean() | 8 .. 12]] each; behind CoDel [[a quarter at most = float((pages["CoDel"]["retransmits"] > 0).mean()) | 0.1 .. 0.25]] of the pages lose any.
#
# Look at the two columns of waits. With RED, PIE and CoDel all others wait [[about as long as the download = all(0.75 < seen[queue]["other_wait_ms"].mean / seen[queue]["bulk_wait_ms"].mean < 1.1 for queue in ("RED", "PIE", "CoDel"))]]. With fq_codel and CAKE
# the others wait [[a millisecond or so = max(seen[queue]["other_wait_ms"].mean for queue in ("fq_codel", "CAKE")) | 0 .. 1.7]]: the download waits in a queue of its own.
# A page behind one of these takes [[less than twice = max(seen[queue]["page_s"].mean for queue in ("RED", "CoDel", "CoDel, ECN", "fq_codel", "CAKE")) / alone_s | 1 .. 2]] as long as alone, behind RED or CoDel as well. ECN makes the median page shorter by [[5 ± 11 = f"{ecn_saves_ms:.0f}" | s]] ms, which [[five draws cannot tell from nothing = abs(ecn_saves_ms.mean) < ecn_saves_ms.half_width]]: few pages lose a packet there, and those take [[only a little longer = experiments.slowed_by_loss(pages["CoDel"]) | 1.05 .. 1.3]].
#
# </details>

# %% [markdown] id="summary"
# ## Summary
#
# A drop-tail queue is as full as TCP can make it, and all packets wait in it; a queue that signals early, by a drop or better by a mark,
# keeps nearly the same goodput at a small part of the delay. Marks need the sender to ask, the queue to mark and the receiver to
# echo; a sender that answers *how many* marks came (DCTCP, L4S) keeps a link full with a few packets waiting, but needs a queue of its own
# beside others. A queue for each flow protects each flow from all queues but its own.

# %% [markdown] id="senders-text" tags=["optional"]
# ## Optional: whose fault is a slow page?
#
# Pages of DCTCP beside a download of DCTCP are [[slower than with CoDel = seen["DualPI2, DCTCP"]["page_s"].mean - seen["DualPI2, DCTCP"]["page_s"].half_width > sum(seen["CoDel"]["page_s"])]], though [[they wait less = sum(seen["DualPI2, DCTCP"]["other_wait_ms"]) < seen["CoDel"]["other_wait_ms"].mean - seen["CoDel"]["other_wait_ms"].half_width]]. But the table's last row changes the
# queue *and* the senders. So keep DualPI2 and exchange one sender at a time. What do you expect: is it the download or the page itself that makes pages slow?

# %% id="senders" tags=["optional"]
senders = {}
for page_by in ("dctcp", "cubic"):
    for bulk_by in ("dctcp", "cubic"):
        scenarios = [
            beside_pages(dualpi2, seed, congestion=page_by, bulk=bulk_by)
            for seed in (1, 2, 3, 4, 5)
        ]
        medians_s = [np.median(experiments.page_times_s(run)) for run in nl.sweep(scenarios)]
        senders[page_by, bulk_by] = nl.interval(medians_s)
        print(f"page of {page_by:5} beside {bulk_by:5}: {senders[page_by, bulk_by]:.3f} s")

# %% [markdown] id="senders-why" tags=["optional"]
# <details><summary><b>Which is it?</b> (Open it when you have an answer of your own.)</summary>
#
# A page of DCTCP takes [[0.35 s = senders["dctcp", "dctcp"].mean | 0.34 .. 0.36]] beside DCTCP and [[0.27 s = senders["dctcp", "cubic"].mean | 0.255 .. 0.28]] beside CUBIC; a page of CUBIC [[0.22 = senders["cubic", "dctcp"].mean | .2f]] s and [[0.20 = senders["cubic", "cubic"].mean | .2f]] s.
# So most of it is the page's *sender*. (The slowest page is one of thirty and mostly chance.)
#
# </details>

# %% [markdown] id="lab-text" tags=["optional"]
# ## Optional: what the published lab measured
#
# `epfl` is lab 5 of *TCP/IP Networking*, EPFL, 2021. Its last part sends two flows over such a link of 5 Mbit/s, without propagation delay, in three ways: CUBIC
# with room for 1000 packets; CUBIC with the RED of part 2, which may not mark; and DCTCP with the same RED, which may.
# Each run is three minutes of network time; all three together take five seconds.


# %% id="lab" tags=["optional"]
def two_flows(congestion, queue, seed=1):
    """The lab's setting: two flows over 5 Mbit/s without propagation delay."""
    starts_s = np.random.default_rng(seed).uniform(0, 2, size=2).round(3)
    pairs = zip(("h1", "h2"), starts_s)
    flows = [nl.Tcp(h, "h3", congestion=congestion, start_s=start_s) for h, start_s in pairs]
    duration_s = nl.run_length_s(180, real_s=50)
    return nl.Scenario(one_link(5, 0, **queue), flows, duration_s, seed, interval_s=0.5)


drops = {**lab_red, "ecn": False}
lab_cases = {
    "CUBIC, 1000 packets": ("cubic", {"queue_packets": 1000}),
    "CUBIC, RED": ("cubic", {"aqm": "red", "aqm_options": drops}),
    "DCTCP, RED and ECN": ("dctcp", {"aqm": "red", "aqm_options": lab_red}),
}
lab = nl.sweep({name: two_flows(*case) for name, case in lab_cases.items()})
print("Goodputs of the two flows, and their mean round-trip time")
print(experiments.lab_table(lab).to_string(index=False))

# %% id="lab-figure" tags=["figure", "optional"]
long_run = lab["CUBIC, 1000 packets"]
nl.plots.time_series(
    long_run, ("rtt_ms",), interfaces=["r1 to h3"], title="Two CUBIC flows and 1000 places"
)

# %% id="lab-compare" tags=["optional"]
late_rtt_ms = long_run.intervals.loc[
    long_run.intervals["t_s"] > experiments.LAB_SETTLED_S, "rtt_ms"
].mean()
full_ms = experiments.full_queue_wait_ms(1000, 5, 1514)
print(f"behind 1000 packets: {late_rtt_ms:.0f} ms; behind a full queue: {full_ms:.0f} ms")

# %% [markdown] id="lab-why" tags=["optional"]
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# The goodputs are nearly the same in all three. The delay is not: [[over two seconds = float(late_rtt_ms) | 2000 .. 2422]], or fifty milliseconds. So nearly all of the queue
# was of no use here. But look at the network: the path has no propagation delay; its BDP is 0, so it stays busy with almost no queue. With $T_0$ = 200 ms the BDP is 83 packets,
# and CUBIC needs 0.43 of that, 35 packets (part 3).
#
# The published round-trip times go from 2000 to 5000 ms. A queue
# of 1000 full frames cannot hold a packet for more than 2422 ms. But the lab's captures show segments of 2986 bytes: with
# **segmentation offload** two frames travel as one packet and count as one. 1000 of these take twice as long. Is that enough to explain the lab's times? Then a queue of 2000 frames must give them.
#
# </details>

# %% [markdown] id="pairs-text" tags=["optional"]
# **Test it.** Add the lab's case with 2000 frames to the list, and run it from five starting moments. Where must the mean round trip lie? (A queue of netlab counts frames, also with segmentation offload.)

# %% id="pairs" tags=["optional"]
more_cases = dict(lab_cases)
# BEGIN SOLUTION
more_cases["CUBIC, 2000 packets"] = ("cubic", {"queue_packets": 2000})
# END SOLUTION
means = {}
for name, case in more_cases.items():
    runs = nl.sweep([two_flows(*case, seed) for seed in (1, 2, 3, 4, 5)])
    late = [run.intervals[run.intervals["t_s"] > experiments.LAB_SETTLED_S] for run in runs]
    means[name] = nl.interval([rows["rtt_ms"].mean() for rows in late])
    both = nl.interval([run.goodput_mbps(experiments.LAB_SETTLED_S).sum() for run in runs])
    print(f"{name}: RTT {means[name]:.0f} ms, both {both:.2f} Mbit/s")

# %% [markdown] id="pairs-why" tags=["optional"]
# <details><summary><b>Our test</b> (Open it when you have yours.)</summary>
#
# With 2000 frames the mean is [[4.4 s = means["CUBIC, 2000 packets"].mean / 1000 | 4.35 .. 4.45]], among the published times. So segmentation offload is enough to explain them. It is no proof that nothing else was at work.
#
# </details>

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
    one_link(aqm="codel"),
    [nl.Tcp("h1", "h3", congestion="cubic")],
    {
        ("r1", "h3"): {
            "rate_mbps": (1, 100),
            "loss_rate": (0, 0.05),
            "queue_packets": (10, 1000),
        }
    },
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
# - C. Paasch and others, Responsiveness under Working Conditions, draft-ietf-ippm-responsiveness: round trips per minute.
# - M. Alizadeh and others, Data Center TCP (DCTCP), ACM SIGCOMM 2010.
# - T. Høiland-Jørgensen, D. Täht and J. Morton, Piece of CAKE, IEEE LANMAN 2018.
# - `epfl`: Congestion control; TCP, UDP: lab 5 of *TCP/IP Networking*, EPFL, 2021, section 4.
#
# ## Limits
#
# One download and one neighbour; a home has more. DualPI2's step is 3 ms here, five frames of this link, because 1 ms
# is less than two frames (`step_ms` in part 3; try it). RED is set as each part says; other settings give other
# waits. A ping is not a game or a call, but it waits as they do.

# %% id="versions" tags=["nbval-ignore-output"]
settings = alone.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
