# %% [markdown] id="title"
# # Delay and jitter
#
# **What do they do to TCP and to UDP?**
#
# Students of ITS 413 (SIIT, Thammasat University; here `siit`) delayed packets by up to 3 s. They concluded that delay
# and jitter reduce throughput and cause losses. Is that so? (They also measured Wi-Fi: that is a [chapter of its own](16_wifi.ipynb).)
#
# After this chapter you can
#
# 1. say what a long delay really costs TCP, and what it does not cost UDP;
# 2. show that a loss came from your tool and not from the network;
# 3. say why TCP takes a late packet for a lost one, and what SACK, RACK and DSACK do about it.
#
# *Time*: [[minutes]] minutes. *Builds on*: UDP loss. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import math

import netlab as nl
from netlab_course.chapters import delay_and_jitter
from netlab_course.chapters.delay_and_jitter import experiments, plots

chapter = delay_and_jitter.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the first one in a sentence. The numbers are not graded.
#
# - UDP crosses a link that is fast enough and delays each packet by 3000 ms. Which fraction is lost on this link?
# - The delay of each packet is 20 ms, give or take 10 ms, so packets overtake each other. None is lost. Which fraction of its segments
#   does a TCP of the 1990s send twice?

# %% id="predict"
my_loss_rate = 0.1  # SOLUTION
my_sent_twice = 0.02  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "Somewhere 3 s of packets must be kept, and a queue as long as that overflows."
# END SOLUTION

loss_prediction = nl.checks.predict(
    "UDP loss on a link with 3000 ms", my_loss_rate, low=0, high=1, reason=my_reason
)
twice_prediction = nl.checks.predict("share sent twice", my_sent_twice, low=0, high=1)

# %% [markdown] id="network-text"
# ## Part 1: delay
#
# On a cable of 100 Mbit/s packets from `h1` to `h2` are delayed by $D$, those on the way back are not. So $D$ is also the
# round-trip time $T$. As in the lab, UDP offers 54.2 Mbit/s (here for 1 s), and TCP sends for 10 s.


# %% id="network" tags=["figure"]
def cable(delay_ms):
    """Two hosts; packets from h1 to h2 are delayed, those back are not."""
    link = nl.Link(
        "h1",
        "h2",
        rate_mbps=100,
        framing="ethernet",
        queue_packets=1000,
        delay_ms=delay_ms,
        reverse={"delay_ms": 0},
    )
    return nl.Topology(["h1", "h2"], links=[link])


nl.plots.topology(cable(delay_ms=300), title="The cable, here with a delay of 300 ms")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $D$ | `delay_ms` | ms | one-way propagation delay |
# | $T$ | `rtt_ms`, `rtt_s` | ms, s | round-trip time |
# | $V$ | `jitter_ms` | ms | half width of the delay's random part |
# | $M$ | `mss_bytes` | bytes | application data in a full TCP segment: 1448 |
# | $G$ | `goodput_mbps` | Mbit/s | application data that arrives, each byte once |
# | $p$ | `loss_rate` | fraction | packets lost / packets sent |

# %% id="delay-runs"
delays_ms = [1, 10, 100, 300, 1000, 3000]
udp = nl.Udp("h1", "h2", rate_mbps=54.2, payload_bytes=1470)
tcp_cases = {d: nl.Scenario(cable(d), [nl.Tcp("h1", "h2")], duration_s=10) for d in delays_ms}
udp_cases = {d: nl.Scenario(cable(d), [udp], duration_s=1) for d in delays_ms}
tcp_table = nl.repeat(tcp_cases, seeds=1, case="link_delay_ms")
udp_table = nl.repeat(udp_cases, seeds=1, case="link_delay_ms")

# %% id="delay" tags=["figure"]
title = "Goodput against delay, 10 s of TCP"
figure = nl.plots.Comparison("Delay (ms)", "Goodput (Mbit/s)", title, log_x=True)
figure.add("UDP", delays_ms, udp_table["goodput_mbps"], [1, 3000], [54.2, 54.2])
x_ms = range(1, 3001, 3)
figure.add("TCP", delays_ms, tcp_table["goodput_mbps"], x_ms, experiments.tcp_mbps)

# %% id="delay-table"
loss_prediction.compare(udp_table["loss_rate"].iloc[-1], theory=0)

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# Nothing is lost. I thought that what is under way stands in a queue. But a link with a long delay is a long wire: the packets are on it, and need
# no memory. Only a queue can overflow, and the one before this link is empty, because the link is faster than the sender.
#
# Rubric:
#
# - compares the number with the measured 0;
# - a delay needs no queue: the packets are on the wire;
# - a loss needs a full queue, so more arrives than the link carries; here it does not.
# <!-- END SOLUTION -->

# %% [markdown] id="delay-why"
# UDP does not notice. What is sent arrives, later.
#
# TCP suffers, most of all above 300 ms, and the dashed line (theory) says by how much. (Goodput counts from the first data on, which arrive
# two delays after the start; iperf divides by all 10 s.) A TCP sender does not know how much the path carries. It begins
# with a *window* of 10 segments, the most that may be in flight without an acknowledgement. Then the window doubles in each round-trip time. (This
# is *slow start*.) In round $k$, counted from 0, the window is $10 \cdot 2^k$ segments. The path carries
#
# $$\frac{G \cdot 10^6 \cdot T}{8 \cdot M}$$
#
# segments in one round-trip time ($G$ in Mbit/s, $T$ in s). From the first round on whose window is at least that, the path is full,
# and TCP no longer pays for the delay. This holds if nothing is lost before, and if neither host limits the window.
#
# ### Exercise 1: how long until the path is full?
#
# Write the function: the time in s from the first data until the round begins in which the path is full. A worked number:
# 25 Mbit/s of goodput and 0.5 s give 3.5 s. A path that the first window fills takes 0 s. Tolerance: [[tolerance]].


# %% id="fill"
def fill_time_s(goodput_mbps, rtt_s):
    """Time from the first data until slow start has filled the path, in s."""
    # BEGIN SOLUTION
    path_segments = goodput_mbps * 1e6 * rtt_s / (8 * 1448)
    rounds = max(0, math.ceil(math.log2(path_segments / 10)))
    return rounds * rtt_s
    # END SOLUTION


# %% id="fill-check"
chapter.check.fill(fill_time_s)

# %% [markdown] id="change-duration-text"
# ### Change one thing
#
# Before you run the next cell: how much does TCP get at 3000 ms if it sends for 60 s? And for 120 s? Only the duration changes.

# %% id="change-duration"
changed_duration_s = 60
longer = nl.run(cable(delay_ms=3000), [nl.Tcp("h1", "h2")], duration_s=changed_duration_s)
print("TCP at 3000 ms, goodput in Mbit/s")
print(f"{10:4} s: {tcp_table['goodput_mbps'].iloc[-1]:5.2f}")
print(f"{changed_duration_s:4} s: {longer.flows['goodput_mbps'][0]:5.2f}")

# %% [markdown] id="fill-why"
# At 3000 ms the path is full after [[36 = fill_time_s(94.15, 3) | .0f]] s: a test of 10 s is over long before. So its goodput says less
# about the delay than about its own length. (The lab does not say how long it measured; 10 s is what iperf takes unless it is told otherwise.) **State how long you measured,
# and leave slow start out if you want to know what the path carries.**
#
# ## The lab's losses
#
# The lab saw UDP lose packets, and we saw none. But we did not do quite what they did. They typed
#
#     tc qdisc add dev eth0 root netem delay 300ms
#
# *netem* is the part of Linux that imitates a wire. The cell after your prediction runs this command, with nothing else on the path. Before you run it: which
# fraction of 54.2 Mbit/s is lost with a delay of 3000 ms? (The chapter's first answer was for a link, not for netem.)

# %% id="predict-netem"
my_netem_loss_rate = 0.5  # SOLUTION

netem_prediction = nl.checks.predict(
    "UDP loss in netem at 3000 ms", my_netem_loss_rate, low=0, high=1
)

# %% id="netem"
wire = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2")])
udp = nl.Udp("h1", "h2", rate_mbps=54.2, payload_bytes=1470, start_s=0.5, duration_s=3)
losses = {}
for delay_ms in [100, 300, 1000, 3000]:
    netem = nl.Command("h1", f"tc qdisc add dev h1-eth0 root netem delay {delay_ms}ms")
    netem_run = nl.run(wire, [netem, udp], duration_s=7)
    losses[delay_ms] = netem_run.flows.set_index("kind")["loss_rate"]["udp"]
    print(f"netem delay {delay_ms:4} ms: {losses[delay_ms]:6.1%} of 54.2 Mbit/s lost")
netem_prediction.compare(losses[3000])

# %% [markdown] id="buffer-text"
# There it is. A long wire needs no memory: the packets are on it. netem must keep each packet for the whole
# delay, and its buffer has room for only so many. That is a suspect, not a proof.
#
# ### Exercise 2: a measurement of your own
#
# Show that it was the buffer and not the delay. Repeat this so that **nothing is lost**:
#
# - hosts `h1` and `h2`, joined by a link without any limits;
# - `nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay [[wait_ms]]ms ...")`. Find in `man tc-netem` (or online) which word sets the size of its
#   buffer. Compute the size: large enough, and at most a quarter more than needed. It gets no other option;
# - `nl.Udp` from `h1` to `h2` at [[sent_mbps]] Mbit/s with datagrams of 1470 bytes, `start_s=0.5` (the command comes first), `duration_s=2`;
# - a run of 5 s, so that the last datagrams can arrive. Keep what `nl.run` returns as `my_run`.

# %% id="buffer"
my_run = ...
# BEGIN SOLUTION NO PROMPT
under_way = own.sent_mbps * 1e6 * own.wait_ms / 1000 / (8 * 1470)
limit_packets = math.ceil(1.1 * under_way)
command = f"tc qdisc add dev h1-eth0 root netem delay {own.wait_ms}ms limit {limit_packets}"
my_flow = nl.Udp(
    "h1", "h2", rate_mbps=own.sent_mbps, payload_bytes=1470, start_s=0.5, duration_s=2
)
my_run = nl.run(wire, [nl.Command("h1", command), my_flow], duration_s=5)
# END SOLUTION

# %% id="buffer-check"
chapter.check.buffer(my_run)

# %% [markdown] id="buffer-why"
# netem holds 1000 packets. Each stays for $D$, so at most $1000 / D$ packets pass in a second. The rest is dropped:
# $p = 1 - 1000 / (\text{packets sent during } D)$. The losses above agree with this to [[a few parts in a thousand = max(abs(loss - experiments.netem_loss(delay)) for delay, loss in losses.items()) | 0 .. 0.005]], and
# the remedy works. Whether the lab lost its packets this way we cannot know. But its command, as printed,
# must lose them from 217 ms on. **Test your tool before you blame the network.**
#
# ## Part 2: jitter
#
# *Jitter* is delay that varies. Our link now has 20 Mbit/s, and $20 \pm V$ ms towards `h2`; each packet draws its own delay. A real queue delays packets but
# keeps their order. netem, as the lab used it, lets them *overtake* each other. First UDP, 10 Mbit/s, with $V$ = 10 ms, the lab's value.


# %% id="jitter-udp"
def jittery(jitter_ms, overtaking):
    """Two hosts; each packet to h2 is earlier or later than 20 ms, by up to jitter_ms."""
    link = nl.Link(
        "h1",
        "h2",
        rate_mbps=20,
        queue_packets=1000,
        delay_ms=20,
        jitter_ms=jitter_ms,
        reorder=overtaking,
        reverse={"jitter_ms": 0, "reorder": False},
    )
    return nl.Topology(["h1", "h2"], links=[link])


udp = nl.Udp("h1", "h2", rate_mbps=10, payload_bytes=1470)
udp_cases = {
    "order kept": nl.Scenario(jittery(10, overtaking=False), [udp], duration_s=5),
    "overtaking": nl.Scenario(jittery(10, overtaking=True), [udp], duration_s=5),
}
columns = ["case", "goodput_mbps", "loss_rate", "delay_ms", "jitter_ms", "reordered"]
print(nl.repeat(udp_cases, seeds=1)[columns].round(2).to_string(index=False))

# %% [markdown] id="jitter-udp-why"
# Nothing is lost, either way. Keeping the order costs time: each packet waits for the slowest one before it. Overtaking costs order: most datagrams arrive after
# one that was sent later. UDP leaves that to the application.
#
# TCP promises the order. The receiver keeps what came early, and with each early segment it sends a *duplicate acknowledgement*: "I still wait for
# number 5." Is number 5 lost or late? The sender cannot know. The sender's answer has changed over the years:
#
# - **1990s** (*fast retransmit*): after three duplicates it is lost. Send it again and halve the window.
# - **SACK** (RFC 2018, 1996): the receiver also says *which* later segments it has. So the sender knows what is missing.
# - **RACK** (RFC 8985, 2021) counts time, not packets: 5 is lost if something sent later has arrived and a part of the RTT has passed since then.
# - **DSACK** (RFC 2883, 2000): the receiver reports what came *twice*. Then the sender sees that it was wrong, undoes the cut of its window,
#   and RACK waits longer.
#
# One flow of Reno (the classic TCP, chapter 6) with a window of 150 kB: enough to fill the link, too little to fill its queue. So **no packet is lost in this network** (column `dropped`), and every retransmission is
# unnecessary. (You need not know the acronyms: the table shows what each adds.)

# %% id="variants"
old_tcp = {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_max_reordering": 3}
variants = {  # may packets overtake each other, and which settings has Linux?
    "delay varies, order kept": (False, {}),
    "three duplicate ACKs (1990s)": (True, old_tcp),
    "SACK and RACK, no DSACK": (True, {"net.ipv4.tcp_dsack": 0}),
    "SACK, RACK and DSACK (today)": (True, {}),
}

# %% id="jitter-runs"
flow = nl.Tcp("h1", "h2", congestion="reno", window_bytes=150_000)


def cases(jitters_ms, seeds=range(1, 6)):
    """Scenarios of 6 s by variant, jitter and seed."""
    return {
        (name, jitter_ms, seed): nl.Scenario(
            jittery(jitter_ms, overtaking), [flow], duration_s=6, seed=seed, sysctls=sysctls
        )
        for name, (overtaking, sysctls) in variants.items()
        for jitter_ms in jitters_ms
        for seed in seeds
    }


jitter_runs = nl.sweep(cases(jitters_ms=[5, 10]))

# %% id="jitter" tags=["figure"]
found = experiments.jitter_table(jitter_runs)
plots.jitter(found, title="Reno with a window of 150 kB, no loss, five seeds each")

# %% id="jitter-table"
print(experiments.summary(found).round(2).to_string(index=False, col_space=5))
old = found.query("tcp.str.startswith('three') and jitter_ms == 10")
twice_prediction.compare(old["sent_again"].mean())

# %% [markdown] id="change-jitter-text"
# ### Change one thing
#
# A jitter of 2 ms in place of 5 or 10: which of the four rows do you expect to change, and to which goodput? Predict, run, then try 3 and 4 ms.

# %% id="change-jitter"
changed_jitter_ms = 2
changed = experiments.jitter_table(nl.sweep(cases(jitters_ms=[changed_jitter_ms])))
print(experiments.goodput_by_jitter(found, changed).round(2).to_string(col_space=10))

# %% [markdown] id="jitter-words"
# ### Exercise 3: explain it
#
# A friend has a link with such jitter. "No loss," he says, "and still TCP crawls." Write four to six sentences for him. Why does a
# TCP of the 1990s get a fifth of the link or less, although nothing is lost? What does each row of the table add? Why does jitter that keeps the order do no harm?
#
# <!-- BEGIN SOLUTION -->
# Packets overtake each other, so segments arrive early, and each early one makes a duplicate acknowledgement. With a jitter of 10 ms more than three segments
# often overtake a late one (a segment takes 0.6 ms on this link). The old TCP takes three duplicates for a loss: it sends the segment again, for nothing, and,
# worse, halves its window. It does so again and again, so the window stays far below what the path needs. With SACK and RACK the sender waits for a part of the RTT before it
# decides, so most late segments arrive in time. With DSACK it learns of each segment that came twice; it undoes the cut of its window and
# waits longer the next time. If the order is kept, there are no duplicates, and TCP sees nothing but a longer RTT.
#
# Rubric:
#
# - reordering makes duplicate acknowledgements, three of which are taken for a loss;
# - the harm is the halved window, not the segment sent again;
# - RACK waits for time instead of counting, DSACK reports mistakes so that they are undone (two of the two named).
# <!-- END SOLUTION -->

# %% [markdown] id="jitter-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Without DSACK more is sent for nothing at ± 10 ms than with it, and the goodput is lower: [[the interval of the difference does not hold 0 = nl.interval(found.query("tcp.str.contains('today') and jitter_ms == 10")["goodput_mbps"], found.query("tcp.str.contains('no DSACK') and jitter_ms == 10")["goodput_mbps"]).mean > nl.interval(found.query("tcp.str.contains('today') and jitter_ms == 10")["goodput_mbps"], found.query("tcp.str.contains('no DSACK') and jitter_ms == 10")["goodput_mbps"]).half_width]]. But the difference is small, a per cent or so.
#
# The lab reports that TCP withstood its jitter. A guess: SACK and DSACK were enough. Its Linux had both (since version 2.4 at the latest: Sarolahti and Kuznetsov, 2002), and RACK
# not yet. No run of ours can tell: with SACK this kernel always has RACK, also with `net.ipv4.tcp_recovery` at 0.
#
# </details>

# %% [markdown] id="summary"
# ## Summary
#
# 1. Delay takes nothing from UDP and, once the window has grown, nothing from TCP; what the lab saw was very likely slow start in a short test, and a
#    buffer of its tool that was too small.
# 2. Jitter harms TCP where packets overtake each other: late looks like lost, and the answer to a loss is half the window; SACK, RACK and DSACK wait, and
#    undo mistakes.

# %% [markdown] id="open"
# ## Open exercises
#
# 1. From which $V$ on does the old TCP suffer, and how many segments overtake others then? (`reordered` of a UDP flow counts them.)
# 2. Give the TCP flow of part 1 a window of 1 MB (`window_bytes`). What does a delay of 300 ms cost now, in the long run? (See the chapter BDP.)
#
# ### Reading
#
# - `siit`: P. Samervongs, C. Horkaew, I. Nimawarodom, *Performance Analysis of Transport Protocols over Wireless LAN and Ethernet*, ITS 413, SIIT; tasks 1 and 5.
# - M. Allman, V. Paxson, E. Blanton, *TCP Congestion Control*, RFC 5681, 2009; J. Chu and others, *Increasing TCP's Initial Window*, RFC 6928, 2013.
# - M. Mathis and others, *TCP Selective Acknowledgment Options*, RFC 2018, 1996; S. Floyd and others, RFC 2883, 2000 (DSACK).
# - P. Sarolahti, A. Kuznetsov, *Congestion Control in Linux TCP*, USENIX Annual Technical Conference (FREENIX), 2002.
# - Y. Cheng, N. Cardwell, N. Dukkipati, P. Jha, *The RACK-TLP Loss Detection Algorithm for TCP*, RFC 8985, 2021.
#
# ## Limits
#
# Linux raises the count of three duplicates when it notices reordering; for the TCP of the 1990s we had to forbid that (`tcp_max_reordering=3`). It uses
# RACK whenever SACK is on, so this page cannot tell the two apart.
# Time was virtual; what a busy processor does to delay is not shown. netem draws each packet's delay independently. On a real path packets sent one after the other have similar delays, so fewer
# overtake each other.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = netem_run.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
