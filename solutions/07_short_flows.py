# %% [markdown] id="title"
# # Short flows
#
# **Why is a page not faster on a faster line?**
#
# Most transfers are short: a page, a picture. For these the rate that you pay for is hardly ever what you wait for.
#
# After this chapter you can
#
# 1. compute how long a short transfer takes, and say when the link's rate matters;
# 2. choose an initial window, and say what it buys and what it risks;
# 3. read in a capture why one transfer took five times as long as the others.
#
# *Time*: [[minutes]] minutes. *Builds on*: BDP; Congestion control. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import math

import netlab as nl
from netlab_course.chapters import short_flows
from netlab_course.chapters.short_flows import experiments

chapter = short_flows.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# A host opens a TCP connection and sends a page of 100 kB (100 000 bytes). The round-trip time is 100 ms, nothing else is on the path, and nothing is lost. How many
# milliseconds pass from the start until the last byte has arrived
#
# - over a link of 10 Mbit/s?
# - over a link of 1000 Mbit/s?

# %% id="predict"
my_slow_ms = 130  # SOLUTION
my_fast_ms = 51  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "The page takes 0.8 ms on the link, and half a round trip to arrive."
# END SOLUTION

slow_prediction = nl.checks.predict("page at 10 Mbit/s", my_slow_ms, unit="ms", low=0)
fast_prediction = nl.checks.predict(
    "page at 1000 Mbit/s", my_fast_ms, unit="ms", low=0, reason=my_reason)

# %% [markdown] id="network-text"
# ## Part 1: one page, three links
#
# The path is `h1`, a router and `h2`. One link has a rate, half of the round-trip time on each way, and a queue long enough never to drop.
#
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s | rate of the link |
# | $T_0$ | `rtt_ms` | ms | round-trip time with empty queues |
# | $S$ | `size_bytes` | bytes | size of the transfer |
# | $M$ | `mss_bytes` | bytes | data in a full segment: 1448 |
# | $W_0$ | `initial_window_segments` | segments | initial window: what leaves before the first acknowledgement |
# | $j$ | `rounds` | | rounds of slow start |
#
# `completion_s` of a run's flows is the time from the call of `connect` until the last byte has arrived.

# %% id="path"
def path(rate_mbps, rtt_ms=100, queue_packets=1000, loss_rate=0):
    """h1, a router and h2; only the second link has a rate, a delay and a queue."""
    slow = nl.Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=rtt_ms / 2,
                   queue_packets=queue_packets, loss_rate=loss_rate)
    return nl.Topology(["h1", "h2"], ["r1"], links=[nl.Link("h1", "r1"), slow])


# %% id="pages"
page = nl.Tcp("h1", "h2", num_bytes=100_000)
pages = {mbps: nl.Scenario(path(mbps), [page], duration_s=2) for mbps in (10, 100, 1000)}
page_ms = 1000 * nl.repeat(pages, seeds=1).set_index("case")["completion_s"]
slow_prediction.compare(page_ms[10], theory=nl.theory.short_flow_ms(100_000, 10, 100))
fast_prediction.compare(page_ms[1000], theory=nl.theory.short_flow_ms(100_000, 1000, 100))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# It takes 350 ms, seven times as long. My model sends the whole page at once. TCP first opens the connection, which costs a round trip. Then it
# sends 10 segments and waits for their acknowledgements, then 20, then the rest: two more round trips, before the last half one. The rate of the
# link hardly appears in this sum.
#
# Rubric:
#
# - compares the number with the measured 350 ms;
# - the handshake, a round trip before any data;
# - a small first window that doubles, so several round trips, and hardly any time on the link.
# <!-- END SOLUTION -->

# %% [markdown] id="pages-why"
# **A hundred times the rate saves [[an eighth = 1 - page_ms[1000] / page_ms[10] | 0.11 .. 0.14]] of the time.** Even at 10 Mbit/s the link is busy for only [[21 = 100 * nl.theory.transmission_delay_ms(100_000 / 1448 * 1514, 10) / page_ms[10] | .0f]] % of it. What does
# the page wait for? The capture at 100 Mbit/s shows it.

# %% id="bursts" tags=["figure"]
captured = nl.run(path(100), [page], duration_s=2, captures=[nl.Capture("h1", "r1")])
title = "A page of 100 kB at 100 Mbit/s: what leaves when"
nl.plots.time_sequence(captured.packets, title=title).update_xaxes(range=[0, 0.42])

# %% [markdown] id="bursts-text"
# Each vertical stroke is a burst of segments. Why does the sender wait between them, and by which rule do they grow?
#
# <details><summary><b>The rule</b> (Open it when you have one of your own.)</summary>
#
# It has sent what its window allows, and waits for acknowledgements. This is **slow start**. The
# sender does not know the path, so it begins with $W_0$ = 10 segments. Each acknowledged segment lets two others go, so each round trip sends
# twice as much as the one before: 10, 20, 40.
#
# </details>
#
# ## Part 2: the stairs
#
# Let nothing be lost, the path be empty, and the link be so fast that the transfer never waits for it. Then time is counted in round trips. First comes a handshake (SYN there, SYN-ACK back), then
# the rounds of slow start. As a function of the size the time is a staircase.
#
# ### Exercise 1: derive it
#
# How many initial windows are sent in $j$ rounds, all together? So which $j$ does a transfer of $S$ bytes need? And which part of a round trip does the last round take until its data have *arrived*? Write the function. A worked number to test yourself: 20 kB, 50 ms and an initial window of 4 segments give [[175 = stairs_ms(20_000, 50, 4) | .0f]] ms. Take
# 1448 bytes for a segment. Tolerance: [[tolerance]].


# %% id="stairs"
def stairs_ms(size_bytes, rtt_ms, initial_window_segments):
    """Time from connect until the last byte has arrived, in ms, over a fast link."""
    # BEGIN SOLUTION
    windows = size_bytes / (initial_window_segments * 1448)
    rounds = math.ceil(math.log2(windows + 1))
    return rtt_ms * (rounds + 0.5)
    # END SOLUTION


# %% id="stairs-check"
chapter.check.stairs(stairs_ms)

# %% [markdown] id="rates-text"
# <details><summary><b>The formula</b> (Open it when you have your own.)</summary>
#
# In $j$ rounds $1 + 2 + 4 + \dots + 2^{j-1} = 2^j - 1$ initial windows are sent, so
#
# $$j = \left\lceil \log_2\!\left(\frac{S}{W_0 M} + 1\right) \right\rceil, \qquad T = T_0\left(j + \tfrac12\right).$$
#
# (A page that a client must *ask* for takes another half for the request: $j + 1$.)
#
# </details>
#
# ### Twelve sizes, three links
#
# One transfer after the other. Theory here adds the rate to your stairs: once the link needs longer than a round trip to send a
# window, it is always busy, and the rate decides (`nl.theory.short_flow_ms`).

# %% id="transfers"
sizes_bytes = [1000 * kb for kb in (1, 4, 14, 15, 25, 43, 44, 70, 100, 102, 250, 1000)]


def transfers(rate_mbps, initial_window=10, rtt_ms=100):
    """A transfer of each size, one every 2 s."""
    flows = [nl.Tcp("h1", "h2", num_bytes=size_bytes, start_s=2 * number,
                    initial_window_segments=initial_window)
             for number, size_bytes in enumerate(sizes_bytes)]
    return nl.Scenario(path(rate_mbps, rtt_ms), flows, duration_s=2 * len(flows))

# %% id="rates" tags=["figure"]
by_rate = nl.repeat({mbps: transfers(mbps) for mbps in (10, 100, 1000)}, seeds=1)
wide = experiments.completion_ms(by_rate, sizes_bytes)
experiments.sizes_figure(wide, "Completion time over size, three links")

# %% id="rates-table" tags=["folded"]
stairs = chapter.check.stairs.take(stairs_ms, chapter.check.stairs.reference)
wide["your stairs"] = [stairs(size, 100, 10) for size in wide.index]
apart = (wide[1000] / wide["your stairs"] - 1).abs().max()
print(f"1000 Mbit/s and your stairs differ by {apart:.1%} at most")

# %% [markdown] id="rates-why"
# Where do the three curves part, and why? Which transfers does a faster link help?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Up to 14 kB a transfer fits into the first window, and a link of 10 Mbit/s is as good as one of 1000: at most [[12 = wide.loc[14000, 10] - wide.loc[14000, 1000] | .0f]] ms apart. One more kilobyte costs about
# one more round trip on every link, [[90 to 100 ms = bool((wide.loc[15000] - wide.loc[14000]).drop("your stairs").between(89.5, 100.5).all())]]. At 1 Gbit/s the stairs go on to the end, and agree with your function to within [[1 % = float((wide[1000] / wide["your stairs"] - 1).abs().max()) | 0 .. 0.01]]. At 10 Mbit/s they end where a window fills the path: at about
# $R T_0$, here [[83 = nl.theory.bdp_bytes(10, 100) / 1514 | .0f]] packets. Beyond that the curve is a line, and there a faster link helps.
#
# </details>
#
# So **a short transfer waits for round trips, not for the rate of the link.** A shorter
# path helps, and fewer rounds help.

# %% [markdown] id="change-rtt-text"
# ### Change one thing
#
# A path of 20 ms in place of 100: which sizes become five times as fast, which do not? Predict, then run.

# %% id="change-rtt"
changed_rtt_ms = 20
cases = {rtt_ms: transfers(100, rtt_ms=rtt_ms) for rtt_ms in (100, changed_rtt_ms)}
times_ms = experiments.completion_ms(nl.repeat(cases, seeds=1), sizes_bytes)
print(times_ms.round(0).astype(int).rename_axis(columns="rtt_ms").to_string())

# %% [markdown] id="window-size-text"
# ## Part 3: a larger first step
#
# Fewer rounds: let the first window be larger. `nl.Tcp(..., initial_window_segments=30)` does it. It was 1 for
# a long time, then 2 to 4 (RFC 3390, 2002). RFC 6928 (2013, experimental) allows 10, and Linux uses 10.

# %% [markdown] id="published-text" tags=["optional"]
# ### Optional: what was published
#
# With ten segments the average answer of Google's servers to real users became about 10 % faster (Dukkipati and others, 2010). Here are 3 and 10 segments for the twelve sizes.

# %% id="windows-compare" tags=["optional"]
by_window = nl.repeat({segments: transfers(100, segments) for segments in [3, 10]}, seeds=1)
by_size = experiments.completion_ms(by_window, sizes_bytes)
gain = 1 - by_size[10] / by_size[3]
saved = f"{100 * gain.min():.0f} to {100 * gain.max():.0f} %"
print(f"Time saved by 10 segments in place of 3: {saved}, by size")

# %% [markdown] id="published" tags=["optional"]
# Here it is from [[0 = 100 * gain.min() | .0f]] to [[57 = 100 * gain.max() | .0f]] % faster, depending on the size.

# %% [markdown] id="window-exercise"
# ### Exercise 2: a window for a deadline
#
# A page of [[page_kb]] kB must be there [[deadline_ms]] ms after `connect`. The round-trip time is [[page_rtt_ms]] ms, and the link is fast. Which is the *smallest* initial
# window, in whole segments, that does it? Compute it; the cell after the check runs it.

# %% id="window"
initial_window = math.ceil(own.page_kb * 1000 / 1448 / 3)  # SOLUTION

# %% id="window-check"
chapter.check.window(initial_window)

# %% [markdown] id="window-text"
# Now your page at 100 Mbit/s, with four initial windows and two queues.

# %% id="window-run"
window = int(chapter.check.window.take(initial_window, 12))
cases = {}
for segments in sorted({10, window - 1, window, 45}):
    your_page = nl.Tcp(
        "h1", "h2", num_bytes=1000 * own.page_kb, initial_window_segments=segments)
    for name, queue_packets in {"long": 1000, "20 places": 20}.items():
        your_path = path(100, own.page_rtt_ms, queue_packets)
        cases[segments, name] = nl.Scenario(your_path, [your_page], duration_s=5)
tried = experiments.window_table(nl.repeat(cases, seeds=1, case=["initial window", "queue"]))
print(tried.to_string(index=False))

# %% [markdown] id="window-why"
# With one segment less the page takes a round more. So why not 45 for all?
#
# <details><summary><b>Why not?</b> (Open it when you have an answer of your own.)</summary>
#
# The whole burst meets the queue at once. With 20 places [[15 to 24 segments = int(tried.iloc[-1]["20 places: sent again"]) | 15 .. 24]] had to be sent
# again, and the page took [[longer than before the long queue = bool(tried.iloc[-1]["20 places: ms"] > 1.2 * tried.iloc[-1]["long: ms"])]]; for most sizes it took [[longer than with ten = bool(tried.iloc[-1]["20 places: ms"] > tried.iloc[0]["20 places: ms"])]], too. **A larger initial window is a bet on the room in a queue
# that the sender has never seen.** RFC 6928 (section 12) therefore asks a sender to begin smaller where a large first window went wrong.
#
# </details>

# %% [markdown] id="crowd-text"
# ## Part 4: the page that takes five times as long
#
# Now the link loses one packet in a hundred, by chance, in both directions. Sixty pages of 20 kB go over it, one after the
# other. Theory without loss says [[256 = nl.theory.short_flow_ms(20_000, 10, 100) | .0f]] ms for each.

# %% id="crowd" tags=["figure"]
many = [nl.Tcp("h1", "h2", num_bytes=20_000, start_s=4 * number) for number in range(60)]
captures = [nl.Capture("h1", "r1")]
crowd = nl.run(path(10, loss_rate=0.01), many, duration_s=240, seed=1, captures=captures)
experiments.crowd_figure(crowd)

# %% [markdown] id="crowd-why"
# [[Most pages = float((crowd.flows["retransmits"] == 0).mean()) | 0.7 .. 0.95]] do not notice. It is not *how many* packets are lost that counts: the slowest page sent [[one = int(crowd.flows.loc[crowd.flows["completion_s"].idxmax(), "retransmits"]) | 1 .. 1]] packet again. Here are
# the first 16 packets of that page, captured at `h1`.

# %% id="slowest" tags=["folded"]
slowest = int(crowd.flows["completion_s"].idxmax())
widths = {"from": 5, "flags": 6, "acknowledges": 13}
first_packets = experiments.page_packets(crowd, slowest).head(16)
print(first_packets.to_string(index=False, col_space=widths))
print(f"completion: {1000 * crowd.flows['completion_s'][slowest]:.0f} ms")

# %% [markdown] id="outlier-words" tags=["minutes-12"]
# ### Exercise 3: explain the outlier
#
# The flags are `S` for SYN, `A` for an acknowledgement, `P` for push. Which packet was lost? How did the sender notice, and what did it wait for? Why could no acknowledgement tell it earlier, as with a lost segment in the middle
# of a transfer? Three to five sentences, with the times that you read off.
#
# <!-- BEGIN SOLUTION -->
# The first packet, the SYN, got no answer: the second line is the same SYN again, about [[1024 = float(experiments.page_packets(crowd, slowest)["t (ms)"].iloc[1]) | .0f]] ms later. (The SYN or its SYN-ACK was lost. A capture at `h1` does not show which.) The sender noticed only by its
# timer, which is one second for a SYN, because it has not yet measured a round trip and cannot know that 100 ms would be long enough. A segment lost in the middle is followed by others; their acknowledgements
# tell the sender of the gap after one round trip. After the SYN nothing is sent until it is answered, so nothing can tell. From the SYN-ACK on, 100 ms after the second SYN, all goes as usual.
#
# Rubric:
#
# - names the lost packet (the SYN or its answer), from the two equal lines at the start;
# - says that a timer of about a second ended the wait, and that the sender had no measured round-trip time;
# - says why no acknowledgement could help: nothing follows a SYN, while segments behind a gap are acknowledged.
# <!-- END SOLUTION -->

# %% [markdown] id="cut-text"
# ### Exercise 4: cut the link yourself
#
# Test your answer to exercise 3: lose the packet that you named, on purpose, and nothing else. `small_page` calls `connect` at 1 s over `path(10)`, which loses nothing.
# A list `changes=[...]` of `nl.run` has two entries: `nl.Change(at_s=..., link=("r1", "h2"), up=False)` cuts the link, and a second one with `up=True` mends it. (A cut also loses what is
# on its way over the link.) Choose both moments, say how long the page will take, and keep a run of 4 s as `my_cut`.

# %% id="cut"
small_page = nl.Tcp("h1", "h2", num_bytes=16 * 1448, start_s=1)
my_cut = ...
# BEGIN SOLUTION NO PROMPT
my_changes = [
    nl.Change(at_s=0.99, link=("r1", "h2"), up=False),
    nl.Change(at_s=1.01, link=("r1", "h2"), up=True),
]
my_cut = nl.run(path(10), [small_page], duration_s=4, changes=my_changes)
print(f"the page took {1000 * my_cut.flows['completion_s'].iloc[0]:.0f} ms")
# END SOLUTION

# %% id="cut-check" tags=["minutes-10"]
chapter.check.cut(my_cut)

# %% [markdown] id="lost-text"
# ### Other packets
#
# Other packets can be lost, too. Each of these cuts but the first loses one packet on its way to `h2`, of ten segments in the first burst and six in the last. Which costs most, which least? Say it, then run the cell.

# %% id="lost"
cut_s = {  # from when to when all packets to h2 are lost
    "nothing": (0.5, 0.6),
    "the SYN": (0.95, 1.04),
    "a segment of the first burst": (1.1031, 1.1042),
    "a segment of the last burst": (1.2019, 1.2025),
    "the last segment": (1.2065, 1.2080),
}
cases = {}
for what, (begin_s, end_s) in cut_s.items():
    cut = nl.Change(at_s=begin_s, link=("r1", "h2"), loss_rate=1, reverse={"loss_rate": 0})
    mend = nl.Change(at_s=end_s, link=("r1", "h2"), loss_rate=0)
    cases[what] = nl.Scenario(path(10), [small_page], duration_s=4, changes=[cut, mend])
lost = experiments.lost_table(nl.repeat(cases, seeds=1, case="lost"))
print(lost.to_string(index=False, float_format="%.0f"))
more_ms = lost.set_index("lost")["more (ms)"]

# %% [markdown] id="lost-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# - **In the first burst** a lost segment costs [[1 = more_ms["a segment of the first burst"] | .0f]] ms: the segments behind it are acknowledged (SACK), and the gap is filled while the last burst is on its way.
# - **In the last burst** nothing else is on its way: the page waits [[100 = more_ms["a segment of the last burst"] | .0f]] ms for the gap to be filled, a round trip.
# - **The last segment** has nothing behind it. After [[0.4 = more_ms["the last segment"] / 1000 | .1f]] s in all the sender retransmits it as a probe: a *tail loss probe* (RFC 8985).
# - **The SYN** costs [[1.0 = more_ms["the SYN"] / 1000 | .1f]] s: the first timer (RFC 6298, section 2), which knows nothing of the path.
#
# </details>
#
# ### Exercise 5: how often?
#
# The first attempt at a handshake fails if the SYN or the SYN-ACK is lost. If each is lost with a chance of 1 %, that is $1 - 0.99^2$ = [[2.0 = 100 * (1 - 0.99**2) | .1f]] %:
# [[one page in fifty = 1 / (1 - 0.99**2) | 49.5 .. 50.5]] would take [[five times = (more_ms["the SYN"] + nl.theory.short_flow_ms(20_000, 10, 100)) / nl.theory.short_flow_ms(20_000, 10, 100) | 4.8 .. 5.2]] as long, whatever the link's rate. Are there really so many? `lossy` in the next cell is 200 such
# pages on a path that loses [[loss_percent]] %. A colleague says: "On average more than [[stated_percent]] % of them are late." Show with an
# interval whether he is right. (The recipe is in the first hint.) With `my_table["late"] = 100 * (my_table["completion_s"] > 0.9)` the share of late pages in % is `my_table.groupby("seed")["late"].mean()`.

# %% id="lossy"
often = [nl.Tcp("h1", "h2", num_bytes=20_000, start_s=0.5 * number) for number in range(200)]
lossy = nl.Scenario(path(10, loss_rate=own.loss_percent / 100), often, duration_s=120)

# %% id="repeated"
# Take 8 to 30 seeds in a row. my_refutation: a condition on the edges of an interval, such
# as "low > 1 and high < 2": for which intervals (in %) is the statement refuted?
# my_verdict is "supported", "refuted" or "undecided".
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"high < {own.stated_percent}"
my_table = nl.repeat(lossy, seeds=10)
my_table["late"] = 100 * (my_table["completion_s"] > 0.9)
my_shares = my_table.groupby("seed")["late"].mean()
my_interval = nl.interval(my_shares)
mean, half = my_interval
if mean - half > own.stated_percent:
    my_verdict = "supported"
elif mean + half < own.stated_percent:
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
# A short transfer takes $T_0(j + \frac12)$: round trips, and the link's rate decides only once a window fills the path. A larger initial window saves rounds and sends a larger burst into
# a queue of unknown size. A page becomes several times slower if nothing follows the lost packet, because then only a timer can tell: 0.4 s for the last segment, a whole second for the SYN.

# %% [markdown] id="staircase-text"
# ## Optional: a staircase of your own
#
# An optional exercise, with no points.
# Build a network with the hosts `h1` and `h2`, [[rate_mbps]] Mbit/s and a delay of [[delay_ms]] ms on each way. Send six TCP transfers or more from `h1` to `h2`, each of a different size
# (`num_bytes`), and each started when the one before is over (`start_s=...`). Nothing may be lost. Your transfers must lie on at least four different stairs, each within 5 % of your function. Keep the run as `my_run`.

# %% id="staircase"
my_run = ...
# BEGIN SOLUTION NO PROMPT
my_link = nl.Link(
    "h1", "h2", rate_mbps=own.rate_mbps, delay_ms=own.delay_ms, queue_packets=1000)
my_network = nl.Topology(["h1", "h2"], links=[my_link])
my_sizes = [1448 * segments for segments in (1, 10, 11, 30, 31, 70, 71, 150)]
my_flows = [
    nl.Tcp("h1", "h2", num_bytes=size, start_s=2 * number)
    for number, size in enumerate(my_sizes)
]
my_run = nl.run(my_network, my_flows, duration_s=2 * len(my_sizes))
for size, completion_s in zip(my_sizes, my_run.flows["completion_s"]):
    expected_ms = stairs_ms(size, 2 * own.delay_ms, 10)
    print(f"{size:6d} bytes: {1000 * completion_s:4.0f} ms, stairs {expected_ms:4.0f} ms")
# END SOLUTION

# %% id="staircase-check"
chapter.check.staircase(my_run)

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# One transfer, and theory's curve for the same link. Begin with 100 kB. Halve the round-trip time, then double the rate: which one helps? Then find the size above which doubling the rate helps more. With a queue of 20 places, which initial window is the best one?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="open"
# ## Open exercises
#
# - Draw the time of a page of 100 kB over the round-trip time, from 1 to 300 ms, at 10 and at 1000 Mbit/s. Where do the two lines part?
# - Sixty pages, one packet in a hundred lost: which completion time do 95 % of the pages stay below, with $W_0$ = 3, 10 and 30? Ten seeds, and the interval.
# - Send 300 kB with an initial window of 30 at 100 Mbit/s. Theory says three rounds, and it takes four. How large is the window after the second round (`run.intervals`), and which acknowledgements
#   came late?
# - Let a download fill the queue, and send a page beside it. What is the round-trip time in the formula now?
# - **Challenge.** With HTTP/1.1 a browser opens up to six connections to one server (with HTTP/2 and HTTP/3 one). Ten segments each are a burst of sixty. Compare one connection with $W_0$ = 45 and six with 10, with a queue of 20.
#
# ## Sources
#
# - J. Chu, N. Dukkipati, Y. Cheng and M. Mathis, Increasing TCP's initial window, RFC 6928, 2013.
# - N. Dukkipati and others, An argument for increasing TCP's initial congestion window, ACM SIGCOMM Computer Communication Review 40(3), 2010.
# - M. Allman, S. Floyd and C. Partridge, Increasing TCP's initial window, RFC 3390, 2002.
# - M. Allman, V. Paxson and E. Blanton, TCP congestion control, RFC 5681, 2009, section 3.1: slow start.
# - V. Paxson and others, Computing TCP's retransmission timer, RFC 6298, 2011, section 2.
# - Y. Cheng and others, The RACK-TLP loss detection algorithm for TCP, RFC 8985, 2021, section 7: tail loss probes.
# - J. Kurose and K. Ross, Computer Networking, third edition: the same formula, derived.
#
# ## Limits
#
# Real pages come over TLS, which adds a round trip to the handshake (TLS 1.3; two with TLS 1.2), or over QUIC, whose handshake includes it, and from several servers. A name must be looked up first. The sender here has all data at once, and computing takes no time. Random losses
# come one at a time; a full queue loses in bursts.

# %% id="versions" tags=["nbval-ignore-output"]
settings = crowd.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
