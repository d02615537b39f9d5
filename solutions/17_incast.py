# %% [markdown] id="title"
# # Incast
#
# **Why do sixteen fast servers take 200 ms for what takes 4?**
#
# A search, a page of a shop: one machine asks many others at once and goes on when the *last* answer is there. In a rack this takes a few milliseconds, and sometimes fifty times that.
#
# After this chapter you can
#
# 1. compute when many answers that meet in one port overflow its queue;
# 2. say which lost packet costs a round trip and which one a timer, and find it in a capture;
# 3. design two remedies, one at the timer and one at the queue, and say when each ends.
#
# *Time*: [[minutes]] minutes. *Builds on*: Short flows; Queues that speak up. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import math

import netlab as nl
from netlab_course.chapters import incast
from netlab_course.chapters.incast import experiments

chapter = incast.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# A client and sixteen servers are connected to one switch. Every link has 1 Gbit/s, and a round trip takes 0.1 ms. The client asks all sixteen at the same instant, over connections that stay open. Each
# server answers with 32 kB (32 000 bytes). The switch has room for 32 packets at the client's port. Twenty queries, half a second apart: how many milliseconds pass until the last byte of the last answer has arrived, in the *slowest* of the twenty? Write your reason in a sentence. The number is not graded.

# %% id="predict"
my_slowest_ms = 6  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "All answers need 4.3 ms on the client's link, and a lost packet some round trips."
# END SOLUTION

prediction = nl.checks.predict(
    "slowest of twenty queries", my_slowest_ms, unit="ms", low=0.1, reason=my_reason
)

# %% [markdown] id="network-text"
# ## The rack
#
# All answers wait in one queue, before the switch's link to the client. No two servers begin at exactly the same moment: requests arrive with a jitter of ±20 µs.


# %% id="network" tags=["figure"]
def rack(servers, queue_packets=32, **port):
    """Servers and a client at one switch; `port` has more fields of the port's queue."""
    links = []
    for number in range(1, servers + 1):
        way_in = {"rate_mbps": 1000, "delay_ms": 0.025, "queue_packets": 1000}
        links.append(nl.Link(f"s{number}", "sw", **way_in, reverse={"jitter_ms": 0.02}))
    way_back = {"queue_packets": 1000, "aqm": "fifo", "aqm_options": {}}
    port = {"queue_packets": queue_packets, **port, "reverse": way_back}
    links.append(nl.Link("sw", "c", rate_mbps=1000, delay_ms=0.025, **port))
    hosts = ["c", *(link.a for link in links[:-1])]
    return nl.Topology(hosts, switches=["sw"], links=links)


nl.plots.topology(rack(4), title="Four servers, one switch, one client")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $N$ | `servers` | | servers that answer at once |
# | $R$ | `rate_mbps` | Mbit/s | rate of each link |
# | $T_0$ | `rtt_ms` | ms | round-trip time with empty queues: 0.1 |
# | $Q$ | `queue_packets` | packets | room in the queue of the client's port |
# | $B$ | | packets | bandwidth-delay product $R\,T_0$ in frames of 1514 bytes: 8.26 |
# | $S$ | | segments | segments of an answer: $\lceil 32\,000/1448 \rceil = 23$ |
# | $W$ | | segments | window with which an answer begins: 10 |
#
# ## Part 1: sixteen servers
#
# `nl.Requests` keeps a connection open and sends a request every `interval_s`. Flows with the same `interval_s` ask at the same instants. A *query* ends with its last answer.


# %% id="sixteen"
def queries(servers, congestion="cubic", count=20):
    """Requests of the client to each server: `count` queries, half a second apart."""
    each = {"response_bytes": 32_000, "count": count, "interval_s": 0.5}
    each["congestion"] = congestion
    return [nl.Requests("c", f"s{number}", **each) for number in range(1, servers + 1)]


sixteen = nl.run(rack(16), queries(16), duration_s=10.5)
last_ms = experiments.last_answers_ms(sixteen)
print("Last answer of each query in ms:")
print(*last_ms.round(1).iloc[:10])
print(*last_ms.round(1).iloc[10:])

# %% [markdown] id="ideal-text"
# ### Exercise 1: the ideal time
#
# How long would it take if nothing went wrong? The client's link must carry all answers, headers included (1448 bytes of data are a frame of 1514), and begins a round trip after the query. A worked number: 10 servers, 100 kB, 10 Gbit/s and 1 ms give [[1.836 = ideal_ms(10, 100_000, 10_000, 1) | .3f]] ms. Tolerance: [[tolerance]].


# %% id="ideal"
def ideal_ms(servers, response_bytes, rate_mbps, rtt_ms):
    """Time from the query until the last byte has arrived, in ms, if nothing is lost."""
    # BEGIN SOLUTION
    bits = 8 * servers * response_bytes * 1514 / 1448
    return bits / (1000 * rate_mbps) + rtt_ms
    # END SOLUTION


# %% id="ideal-check" tags=["minutes-6"]
chapter.check.ideal(ideal_ms)

# %% id="sixteen-compare"
ideal = chapter.check.ideal.take(ideal_ms, chapter.check.ideal.reference)
prediction.compare(last_ms.max(), theory=ideal(16, 32_000, 1000, 0.1))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three sentences.
#
# <!-- BEGIN SOLUTION -->
# I predicted 6 ms and measured [[208 = last_ms.max() | .0f]]. My model had the time on the link and a few round trips for losses. It left out that a server may have to wait for a timer, which does not depend on the path: the late queries are all about 200 ms late, and nothing in the rack takes 200 ms.
#
# Rubric:
#
# - compares number and measurement;
# - says whether the reason holds, with what is seen in the twenty times (most near the ideal time, some at 200 ms);
# - names a part that the model left out or got wrong, such as a wait that the link does not cause.
# <!-- END SOLUTION -->

# %% [markdown] id="where-text"
# Most queries end near the ideal time, some take 200 ms. At how many servers does this begin? And if one of so many single answers is late, which share of the queries is?

# %% id="by-servers"
counts = (2, 3, 4, 8, 12, 16, 20, 28)
racks = {n: nl.Scenario(rack(n), queries(n), duration_s=10.5) for n in counts}
by_servers = nl.sweep(racks)
print(experiments.queries_table(by_servers, "servers").to_string(index=False))
late_share = experiments.late_share(sixteen)
print(f"16 servers: {late_share:.1%} of the single answers are late (more than 100 ms)")

# %% [markdown] id="where-why"
# <details><summary><b>Why are so many queries late?</b> (Open it when you have an answer of your own.)</summary>
#
# Two servers lose nothing. [[From three on = experiments.drops(by_servers[2]) == 0 and experiments.drops(by_servers[3]) > 0]] the queue drops packets, and now and then a query is late; with twenty-eight most are. Of the *single* answers of sixteen servers only [[one in sixty or so = 1 / late_share | 30 .. 90]] is late. But a query is late if *one* of its answers is: if each is late with a chance $p$, independently,
# that is $1 - (1 - p)^N$, here [[22 = 100 * (1 - (1 - late_share) ** 16) | .0f]] % ([[20 = 100 * float((last_ms > 100).mean()) | .0f]] % were measured in twenty queries).
#
# </details>
#
# ## Part 2: when the queue overflows
#
# After a pause longer than its timer, Linux begins again with a window of $W = 10$ segments, as on a new connection (RFC 5681, section 4.1). Then slow start: each packet that leaves the queue and is acknowledged lets two others in, until all answers are sent. About $B$ packets are always on the path.
#
# ### Exercise 2: the first server too many
#
# How many packets does the queue hold when it is longest? Write it with $N$, $S$, $W$ and $B$, for servers that begin at the same instant and stay in slow start ($S \ge W$). A worked number: with $Q$ = 32 and 32 kB, 2.44 servers fit, so [[drops begin with the third = experiments.drops(by_servers[2]) == 0 and experiments.drops(by_servers[3]) > 0]].
#
# A better switch has room for $Q$ = [[drop_queue]] packets, and an answer has [[drop_kb]] kB ([[drop_kb]] 000 bytes). Which is the smallest number of servers with which this queue overflows? A whole number.

# %% id="first_drop"
first_drop = ...
# BEGIN SOLUTION NO PROMPT
segments = math.ceil(1000 * own.drop_kb / 1448)
first_drop = math.floor((own.drop_queue + 8.26) / ((segments + 10) / 2)) + 1
# END SOLUTION

# %% id="first_drop-check" tags=["minutes-6"]
chapter.check.first_drop(first_drop)

# %% id="first-drop-run"
first = int(chapter.check.first_drop.take(first_drop, 9))
each = {"response_bytes": 1000 * own.drop_kb, "count": 20, "interval_s": 0.5}
print("servers  dropped  dropped with divisor 100")
for servers in range(first - 1, first + 3):
    requests = [nl.Requests("c", f"s{number}", **each) for number in range(1, servers + 1)]
    dropped = []
    for divisor in (3, 100):
        setting = {"net.ipv4.tcp_tso_win_divisor": divisor}
        network = rack(servers, own.drop_queue)
        run = nl.run(network, requests, duration_s=10.5, sysctls=setting)
        dropped.append(experiments.drops(run))
    print(f"{servers:7}  {dropped[0]:7}  {dropped[1]:24}")

# %% [markdown] id="first-drop-why"
# Where do your drops begin, and what could make the queue shorter than you computed?
#
# <details><summary><b>The formula, and what it leaves out</b> (Open it when you have an answer.)</summary>
#
# When the last of $N S$ packets comes, $N (S - W)/2$ have left to let the others in, and $B$ are on the path. So $N (S + W)/2 - B$ wait. In most copies one server more still fits with Linux's usual divisor, 3: a server may send, but waits for more acknowledgements, to hand the interface several segments in one piece (TSO). With 100 it hardly waits, and drops begin where the formula says.
#
# </details>

# %% [markdown] id="lost-text"
# ## Part 3: what costs 200 ms
#
# A drop alone costs little: sixteen servers lost [[more than a thousand = experiments.drops(sixteen) | 1000 .. 1500]] packets in twenty queries, and all but the late ones took [[a third = last_ms[last_ms < 100].median() / ideal(16, 32_000, 1000, 0.1) - 1 | 0.28 .. 0.42]] more than the ideal time (median), not 200 ms. A segment that is lost in the middle of a burst is followed by others. Their acknowledgements show the gap (SACK), and the segment is sent again after a round trip.
#
# Where could this third come from? Here is the slowest answer: the same seed gives the same run, now with a capture.

# %% id="slowest"
server, query = experiments.slowest_answer(sixteen)
again = nl.run(rack(16), queries(16), duration_s=10.5, captures=[nl.Capture(server, "sw")])
packets = experiments.packets_table(again, server, query)
print(f"Answer of {server} to query {query}")
print(packets.iloc[10:36].to_string(index=False))

# %% [markdown] id="timer-words"
# ### Exercise 3: find the 200 ms
#
# (The query and the first segments are left out.) Which packets were lost, and how do you see it? When were they sent again, and what happened then? What ended the long pause, and why could no acknowledgement end it earlier? Four or five sentences, with times.
#
# <!-- BEGIN SOLUTION -->
# Of the first ten segments those that begin at bytes 1448, 2896 and 4344 did not arrive: all acknowledgements say 1448 from 0.47 to 1.19 ms, so the client has only the first segment in order, though later ones arrive. The server noticed by these repeated acknowledgements (SACK) and sent the three again at 0.64 to 0.66 ms, as soon as they came, and 1448 and 2896 once more at 1.2 ms.
# But these two met the full queue again and were lost each time, and so was the next burst, from 14480 on. After that nothing of this server was on its way, so the client received nothing that it could acknowledge. Only the server's timer could end this: at 207.9 ms it sent the segment at 1448 for the fourth time, into an empty queue, and then all went on within half a millisecond.
# The timer is 200 ms, though a round trip takes less than one: Linux's smallest timeout.
#
# Rubric:
#
# - names the lost segments from the acknowledgements that stand still at one byte;
# - says that they were sent again after about a round trip, and that these were lost, too;
# - says that nothing was on its way any more, so that no acknowledgement could come, and the timer of about 200 ms ended the pause.
# <!-- END SOLUTION -->

# %% [markdown] id="timer-why"
# <details><summary><b>What the timer is</b> (Open it when you have written yours.)</summary>
#
# A retransmission timeout (RTO) follows the measured round trip: $\text{SRTT} + 4\,\text{RTTVAR}$ (RFC 6298), here well below 2 ms. But it has a lower bound. RFC 6298 asks for 1 s; Linux uses 200 ms, so that an acknowledgement that is only delayed (by 40 ms and more) causes no retransmission. On the Internet this is a round trip or two, in a rack two thousand.
#
# Two losses need the timer: a lost retransmission, as here, and a lost *tail*: nothing follows the last segments, so no acknowledgement tells of a gap. For a tail Linux has a probe (RFC 8985): it sends the last segment again after two round trips and some milliseconds, here at about 4 ms. (The third above is such waits, and last answers with small windows: the link is idle meanwhile.) But if a single segment is outstanding, it adds the smallest timeout, because the acknowledgement may only be delayed. Such a probe takes 200 ms as well, and is not counted as a timeout.
# </details>
#
# ## Part 4: the first remedy, the timer
#
# If the bound is the problem, make it smaller (Vasudevan and others, 2009). Linux has a setting, in microseconds (since 6.11): `net.ipv4.tcp_rto_min_us`.

# %% id="short-timer"
short = {"net.ipv4.tcp_rto_min_us": 5000}
with_timer = nl.run(rack(16), queries(16), duration_s=10.5, sysctls=short)
both = {"200 ms": sixteen, "5 ms": with_timer}
print(experiments.queries_table(both, "timer").to_string(index=False))

# %% [markdown] id="timer_run-text"
# ### Exercise 4: the largest bound
#
# If a bound is too small, servers send again what is only late. So how large may it be? With a bound of `short_ms` the slowest query takes `slowest_ms`; the larger bound must keep it below `limit_ms`. How much comes on top of a bound, and what happens then? Leave 2 ms more: Linux's timers tick each millisecond, and with another bound other queries are the slowest. A worked number: a limit of 50 ms, and 21 ms with a bound of 8 ms, allow [[35 = largest_bound_ms(50, 8, 21) | .0f]] ms. Tolerance: [[tolerance]].


# %% id="bound"
def largest_bound_ms(limit_ms, short_ms, slowest_ms):
    """The largest bound of the timer, in ms, from the slowest query with a short one."""
    # BEGIN SOLUTION
    return limit_ms - (slowest_ms - short_ms) - 2
    # END SOLUTION


# %% id="bound-check" tags=["minutes-4"]
chapter.check.bound(largest_bound_ms)

# %% [markdown] id="timer_rack-text"
# Your rack has [[servers]] servers and room for [[queue_packets]] packets. Seeds 1 to 5 have 95 queries after the first ones; all but one must take at most [[timer_ms]] ms. Run it with the bound of 5 ms, then with the bound that your function gives (up to 2 ms less are accepted), and change nothing else.
# `nl.sweep({1: nl.Scenario(..., seed=1), 2: ...})` runs all seeds; keep what it returns as `timer_runs`. `experiments.later_ms(timer_runs[1])` has the times of all queries but the first.

# %% id="timer_runs"
timer_runs = ...
# BEGIN SOLUTION NO PROMPT
my_rack, my_queries = rack(own.servers, own.queue_packets), queries(own.servers)


def bounded(bound_ms):
    """Runs of my rack with a bound of the timer, by seed."""
    fields = {"duration_s": 10.5, "sysctls": {"net.ipv4.tcp_rto_min_us": 1000 * bound_ms}}
    seeds = range(1, 6)
    return nl.sweep({s: nl.Scenario(my_rack, my_queries, seed=s, **fields) for s in seeds})


slowest_ms = max(experiments.later_ms(run).max() for run in bounded(5).values())
bound_ms = math.floor(largest_bound_ms(own.timer_ms, 5, slowest_ms))
timer_runs = bounded(bound_ms)
slowest = [f"{experiments.later_ms(run).max():.1f}" for run in timer_runs.values()]
print(f"{slowest_ms:.1f} ms with 5 ms; with {bound_ms} ms {', '.join(slowest)} ms")
# END SOLUTION

# %% id="timer_runs-check" tags=["minutes-4"]
chapter.check.timer_runs(timer_runs)

# %% [markdown] id="dctcp-text"
# ## Part 5: the second remedy, the queue
#
# A timer repairs; better not to lose. DCTCP (chapter 12) reacts to *how many* of its packets were marked. A step threshold of $K$ packets marks all that find more than $K$ before them. A threshold above $B/7$ is enough to keep the link full, here [[1.2 = nl.theory.dctcp_threshold_packets(1000, 0.1) | .1f]] packets (Alizadeh and others, 2010), and so far below $Q$ that a burst still fits above it. We take 20. Here are all three.


# %% id="three"
def step(threshold_packets):
    """The fields of a queue that marks everything above a threshold."""
    low, high = threshold_packets, threshold_packets + 1
    options = {"min_packets": low, "max_packets": high, "probability": 1.0, "ecn": True}
    return {"aqm": "red", "aqm_options": options}


cases = {}
for n in counts:
    cases["CUBIC", n] = nl.Scenario(rack(n), queries(n), duration_s=10.5)
    cases["CUBIC, 5 ms", n] = nl.Scenario(rack(n), queries(n), duration_s=10.5, sysctls=short)
    marked = rack(n, **step(20))
    cases["DCTCP", n] = nl.Scenario(marked, queries(n, "dctcp"), duration_s=10.5)
three = nl.sweep(cases)

# %% id="three-figure" tags=["figure", "folded"]
three_ms = experiments.mean_ms(three)
experiments.servers_figure(three, lambda n: ideal(n, 32_000, 1000, 0.1))

# %% [markdown] id="three-why"
# From which number of servers on does each line leave the ideal time, and why there?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have written yours.)</summary>
#
# CUBIC leaves the ideal time [[with the first drops = three_ms["CUBIC", 2] < 1.1 * ideal(2, 32_000, 1000, 0.1) and three_ms["CUBIC", 4] > 2 * ideal(4, 32_000, 1000, 0.1)]]. With 5 ms it has the same drops and stays [[within 4 ms of the ideal time = max(three_ms["CUBIC, 5 ms", n] - ideal(n, 32_000, 1000, 0.1) for n in counts) | 0 .. 4]]. DCTCP *remembers*: after the pause it begins with the small window that it ended with, and stays [[within 1 ms = max(three_ms["DCTCP", n] - ideal(n, 32_000, 1000, 0.1) for n in (2, 3, 4, 8, 12, 16, 20)) | 0 .. 1]] up to twenty servers. Then it fails as well: its smallest window is 2 segments, and the queue overflows even if all servers send as little as they may.
# </details>
#
# The figure leaves out first queries: their connections are new and remember nothing. Does DCTCP help there, too? Predict, then run.

# %% id="first-queries"
late = {}
for n in (12, 20, 24):
    for congestion, port in (("cubic", {}), ("dctcp", step(20))):
        new = nl.Scenario(rack(n, **port), queries(n, congestion, count=1), duration_s=1)
        last_s = nl.repeat(new, seeds=10).groupby("seed")["completion_s"].max()
        late[n, congestion] = int((last_s > 0.1).sum())
        print(f"{n} servers, {congestion}: {late[n, congestion]} of 10 queries late")

# %% [markdown] id="marks_runs-text"
# [[It does until about twenty servers = all(2 * late[n, "dctcp"] < late[n, "cubic"] for n in (12, 20)) and late[24, "dctcp"] > 5]]. The first windows come before any mark is back and overflow the queue, but then marks end slow start, so that segments sent again find room. With 24 servers even the smallest windows are too many.
#
# ### Exercise 5: the least room
#
# Fast memory is dear. For how many packets does the queue need room so that the *smallest* windows of all servers fit, some of whose packets are on the path? A worked number: 50 servers, 1000 Mbit/s and 0.1 ms give [[91.7 = room_packets(50, 1000, 0.1) | .1f]] packets. Tolerance: [[tolerance]].


# %% id="room"
def room_packets(servers, rate_mbps, rtt_ms):
    """The packets for which the queue needs room with the smallest windows."""
    # BEGIN SOLUTION
    return 2 * servers - rate_mbps * rtt_ms * 1000 / 8 / 1514
    # END SOLUTION


# %% id="room-check" tags=["minutes-4"]
chapter.check.room(room_packets)

# %% [markdown] id="marks_rack-text"
# Your [[servers]] servers again, and as in exercise 4 all queries but one in time, but within [[marks_ms]] ms and without any sysctl. Choose what the port's queue does and what the servers send with. Its room is what your function gives (three packets more are accepted). Keep the runs, by seed, as `marks_runs`.

# %% id="marks_runs"
marks_runs = ...
# BEGIN SOLUTION NO PROMPT
room = math.ceil(room_packets(own.servers, 1000, 0.1)) + 1
small_rack = rack(own.servers, room, **step(8))
my_queries = queries(own.servers, "dctcp")
marks_runs = nl.sweep(
    {
        seed: nl.Scenario(small_rack, my_queries, duration_s=10.5, seed=seed)
        for seed in range(1, 6)
    }
)
for seed, run in marks_runs.items():
    print(f"seed {seed}: slowest {experiments.later_ms(run).max():.1f} ms")
# END SOLUTION

# %% id="marks_runs-check" tags=["minutes-4"]
chapter.check.marks_runs(marks_runs)

# %% [markdown] id="change-text"
# ### Change one thing
#
# "Just buy a switch with more room." Sixteen servers, CUBIC, the usual timer, four times the room. Is the collapse gone, or has it moved? Predict, run, then change `room` or `many`.

# %% id="change"
room, many = 128, 16
changed = nl.run(rack(many, room), queries(many), duration_s=10.5)
print(experiments.queries_table({many: changed}, "servers").to_string(index=False))

# %% [markdown] id="repeated-text"
# ### Exercise 6: a claim
#
# A colleague claims: "With DCTCP my rack needs less than [[stated_ms]] ms for its 20th query, on average." `claimed` in the next cell is that rack. Show with an interval whether it is so. `my_table` of `nl.repeat` with 8 to 30 seeds in a row has in `completion_s` the time in s from the start until the last answer of each server's 20th query, which is made after 19 pauses of 0.5 s. So the 20th query took `1000 * (my_table.groupby("seed")["completion_s"].max() - 9.5)` ms.
# First write `my_refutation`, a condition in quotes on the edges `low` and `high` of an interval (in ms): when does it refute the claim? Then `my_table`, `my_interval` and `my_verdict`: by your interval, is the claim `"supported"`, `"refuted"` or `"undecided"` (it holds the number)?

# %% id="claimed"
claimed_rack = rack(own.servers, own.queue_packets, **step(20))
claimed = nl.Scenario(claimed_rack, queries(own.servers, "dctcp"), duration_s=10.5)

# %% id="repeated"
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"low > {own.stated_ms}"
my_table = nl.repeat(claimed, seeds=12)
my_last_ms = 1000 * (my_table.groupby("seed")["completion_s"].max() - 9.5)
my_interval = nl.interval(my_last_ms)
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

# %% [markdown] id="repeated-why"
# <details><summary><b>Is the time ideal?</b> (Open it when you have your verdict.)</summary>
#
# Strictly, no: DCTCP needs [[one to three per cent = nl.interval(my_last_ms).mean / ideal_ms(own.servers, 32_000, 1000, 0.1) - 1 | 0.005 .. 0.03]] more than the ideal time with the printed numbers. Beside the 200 ms of before this is little: a difference can be certain and still not matter.
# </details>

# %% [markdown] id="summary"
# ## Summary
#
# Answers to one question meet in one queue, and if $N(S + W)/2$ is more than room and path, it overflows; the query ends with the slowest answer, so a few lost packets among hundreds decide. A lost segment with others behind it costs a round trip, a lost tail or a lost retransmission costs a timer, and its lower bound is made for the Internet.
# A smaller bound makes the wait short; DCTCP makes the bursts small, until even two packets from each server are too many.

# %% [markdown] id="window-text" tags=["optional"]
# ## Optional: connections that remember their window
#
# `net.ipv4.tcp_slow_start_after_idle=0` lets a server begin with the window that it had before the pause, so CUBIC's memory is kept, too. Is that better or worse for a query? Four and sixteen servers, each with and without it. First say what you expect for each.

# %% id="window" tags=["optional"]
remember = {"net.ipv4.tcp_slow_start_after_idle": 0}
kept = {}
for n in (4, 16):
    kept[f"{n}, as usual"] = nl.run(rack(n), queries(n), duration_s=10.5)
    kept[f"{n}, window kept"] = nl.run(rack(n), queries(n), duration_s=10.5, sysctls=remember)
print(experiments.queries_table(kept, "servers").to_string(index=False))

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# Twenty queries; each point is a last answer. Begin as in part 1. (1) Lower the smallest timeout until no query is late: what stays? (2) Back to 200 ms and DCTCP: which thresholds keep sixteen servers at the ideal time, and why do both very low and very high ones fail? (3) Give DCTCP more and more servers. Is the end where $2N = Q + B$?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="open"
# ## Open exercises
#
# - The same 512 kB from 4, 8, 16 and 32 servers: does the collapse depend on $N$, or on the size of the query?
# - New connections for each query (`nl.Tcp` from each server, `num_bytes=32_000`): now SYNs can be lost, too. How late is the latest answer of 32 servers, and why does `tcp_rto_min_us` not help?
# - Let the client ask in two halves, 2.5 ms apart. When is this better than asking all at once?
# - **Challenge.** `aqm="fq_codel"` or `"codel"` at the port, with ECN and CUBIC: does either keep the limit of exercise 5, and with how much room? Their target is 5 ms. Which number would you change first?
#
# ## Reading
#
# - A. Phanishayee and others, Measurement and analysis of TCP throughput collapse in cluster-based storage systems, USENIX FAST 2008.
# - V. Vasudevan and others, Safe and effective fine-grained TCP retransmissions for datacenter communication, ACM SIGCOMM 2009.
# - M. Alizadeh and others, Data Center TCP (DCTCP), ACM SIGCOMM 2010; RFC 8257.
# - V. Paxson and others, Computing TCP's retransmission timer, RFC 6298, 2011; Y. Cheng and others, The RACK-TLP loss detection algorithm for TCP, RFC 8985, 2021.
# - J. Dean and L. Barroso, The tail at scale, Communications of the ACM 56(2), 2013.
#
# ## Limits
#
# Time is virtual: servers and client need no time to compute, and the jitter of ±20 µs stands for all of it. Switches share their memory among ports, and this one does not. All servers send the same amount. Linux's timer has ticks, here of 1 ms. A shorter timer also acts on connections to the Internet if the setting is for the whole host: there it can cause retransmissions of segments that are only late.

# %% id="versions" tags=["nbval-ignore-output"]
settings = sixteen.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
