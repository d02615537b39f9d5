# %% [markdown] id="title"
# # Short flows
#
# **Why is a page not faster on a faster line?**
#
# Most transfers are short: a page, an answer, a picture. For these the rate that you pay for is hardly ever what you wait for.
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
# Write down two numbers before you see the results. Nobody grades them.
#
# A host opens a TCP connection and sends a page of 100 kB (100 000 bytes). The round-trip time is 100 ms, nothing else is on the path, and nothing is lost. How many
# milliseconds pass from the start until the last byte has arrived
#
# - over a link of 10 Mbit/s?
# - over a link of 1000 Mbit/s?

# %% id="predict"
my_slow_ms = 130  # SOLUTION
my_fast_ms = 51  # SOLUTION

slow_prediction = nl.checks.predict("page at 10 Mbit/s", my_slow_ms, unit="ms", low=0)
fast_prediction = nl.checks.predict("page at 1000 Mbit/s", my_fast_ms, unit="ms", low=0)

# %% [markdown] id="network-text"
# ## Part 1: one page, three links
#
# The path is as simple as can be: `h1`, a router and `h2`. One link has a rate, and half of the round-trip time on each way. Its queue is so long that it never drops.
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

# %% id="pages"
pages = experiments.pages_table(rates_mbps=[10, 100, 1000])
page_ms = pages.set_index("rate (Mbit/s)")["page (ms)"]
slow_prediction.compare(page_ms[10], theory=nl.theory.short_flow_ms(100_000, 10, 100))
fast_prediction.compare(page_ms[1000], theory=nl.theory.short_flow_ms(100_000, 1000, 100))

# %% [markdown] id="pages-why"
# **A hundred times the rate saves [[an eighth = 1 - page_ms[1000] / page_ms[10] | 0.11 .. 0.14]] of the time.** Even at 10 Mbit/s the link is busy for only [[21 = pages["busy (%)"].iloc[0] | .0f]] % of it. What does
# the page wait for? The capture at 100 Mbit/s shows it.

# %% id="bursts" tags=["figure"]
captured = experiments.captured_page(rate_mbps=100)
nl.plots.time_sequence(captured.packets, title="A page of 100 kB at 100 Mbit/s: what leaves when").update_xaxes(
    range=[0, 0.42]
)

# %% [markdown] id="bursts-text"
# Each vertical stroke is a burst of segments. Between two bursts the sender waits for acknowledgements: it has sent what its window allows. This is **slow start**. The
# sender does not know the path, so it begins with $W_0$ = 10 segments. Each acknowledged segment lets two others go, so each round trip sends
# twice as much as the one before: 10, 20, 40.
#
# ## Part 2: the stairs
#
# After $j$ rounds $1 + 2 + 4 + \dots + 2^{j-1} = 2^j - 1$ initial windows have been sent. A transfer needs the smallest $j$ for which that is enough:
#
# $$j = \left\lceil \log_2\!\left(\frac{S}{W_0 M} + 1\right) \right\rceil$$
#
# The time is one round trip for the handshake (SYN there, SYN-ACK back), one for each round but the last, and half of one for the last, which
# ends with the arrival:
#
# $$T = T_0\left(j + \tfrac12\right) \qquad\text{(fast link)}.$$
#
# (A page that a client has to *ask* for takes another half, because the request must get there first. That makes $j + 1$.)
#
# *When it holds*: nothing is lost, the path is empty, and the link is so fast that the transfer never waits for it. As a function of the size the time is a staircase.
#
# ### Exercise 1: write it
#
# Write the function for a fast link. A worked number to test yourself: 20 kB, 50 ms and an initial window of 4 segments give [[175 = stairs_ms(20_000, 50, 4) | .0f]] ms. Take
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
# ### Twelve sizes, three links
#
# Sizes from 1 kB to 1 MB, one transfer after the other. Theory here adds the rate to your stairs: once the link needs longer than a round trip to send a
# window, it is busy all the time, and from then on the rate decides (`nl.theory.short_flow_ms`). Both axes are logarithmic.

# %% id="rates" tags=["figure"]
by_rate = experiments.transfers(rates_mbps=[10, 100, 1000])
experiments.sizes_figure(
    by_rate, "rate_mbps", lambda rate_mbps: f"{rate_mbps:g} Mbit/s", "Completion time over size, three links"
)

# %% id="rates-table" tags=["folded"]
wide = by_rate.pivot_table(index="size_bytes", columns="rate_mbps", values="completion_ms")
stairs = chapter.check.stairs.take(stairs_ms, chapter.check.stairs.reference)
wide["your stairs"] = [stairs(size, 100, 10) for size in wide.index]
print(f"1000 Mbit/s and your stairs differ by {(wide[1000] / wide['your stairs'] - 1).abs().max():.1%} at most")

# %% [markdown] id="rates-why"
# Up to 14 kB a transfer fits into the first window, and a link of 10 Mbit/s is as good as one of 1000: at most [[12 = wide.loc[14000, 10] - wide.loc[14000, 1000] | .0f]] ms apart. One more kilobyte costs about
# one more round trip on every link, [[90 to 100 ms = bool((wide.loc[15000] - wide.loc[14000]).drop("your stairs").between(89.5, 100.5).all())]]. At 1 Gbit/s the stairs go on to the end, and they agree with your function to within [[1 % = float((wide[1000] / wide["your stairs"] - 1).abs().max()) | 0 .. 0.01]]. At 10 Mbit/s they end where a window fills the path: at about
# $R T_0$, here [[83 = nl.theory.bdp_bytes(10, 100) / 1514 | .0f]] packets. Beyond that the curve is a line, and there a faster link helps.
#
# So the answer to the question of this chapter: **a short transfer waits for round trips, not for the rate of the link.** A shorter
# path helps, and fewer rounds help.
#
# ## Part 3: a larger first step
#
# Fewer rounds: let the first window be larger. `nl.Tcp(..., initial_window_segments=30)` does it. It was 1 for
# a long time, then 2 to 4 (RFC 3390, 2002). RFC 6928 (2013, experimental) allows 10, and Linux uses 10. Here are 3 and 10 at 100 Mbit/s, for the twelve sizes.

# %% id="windows-compare"
by_window = experiments.transfers(rates_mbps=[100], windows=[3, 10])
by_size = by_window.pivot_table(index="size_bytes", columns="initial_window", values="completion_ms")
gain = 1 - by_size[10] / by_size[3]
print(f"Time saved by 10 segments in place of 3: {100 * gain.min():.0f} to {100 * gain.max():.0f} %, depending on the size")

# %% [markdown] id="published"
# **What was published.** Before the RFC, Dukkipati and others (2010) tried ten segments on Google's own servers, with real users. They report that the average time of an
# answer became about 10 % shorter, most where the round trip is long. Here it is from [[0 = 100 * gain.min() | .0f]] to [[57 = 100 * gain.max() | .0f]] %, depending on the size.
#
# ### Exercise 2: a window for a deadline
#
# A page of [[page_kb]] kB must be there [[deadline_ms]] ms after `connect`. The round-trip time is [[page_rtt_ms]] ms, and the link is fast. Which is the *smallest* initial
# window, in whole segments, that does it? Compute it; the next cell runs it.

# %% id="window"
initial_window = math.ceil(own.page_kb * 1000 / 1448 / 3)  # SOLUTION

# %% id="window-check"
chapter.check.window(initial_window)

# %% [markdown] id="window-text"
# Now your page at 100 Mbit/s with an initial window of 10, of one segment less than yours, yours, and 45. Once with a long queue before the link, and once with one that
# holds 20 packets.

# %% id="window-run" tags=["folded"]
window = int(chapter.check.window.take(initial_window, 12))
tried = experiments.window_table(
    size_bytes=1000 * own.page_kb,
    rtt_ms=own.page_rtt_ms,
    windows=sorted({10, window - 1, window, 45}),
    queues={"long": 1000, "20 places": 20},
    rate_mbps=100,
)
print(tried.round(0).astype(int).to_string(index=False))
largest = tried.iloc[-1]

# %% [markdown] id="window-why"
# One segment less, and the page takes a round more. So why not 45 for all? The burst leaves at once and meets the queue at once. With 20 places [[15 to 24 segments = int(largest["20 places: sent again"]) | 15 .. 24]] had to be sent
# again, and the page took [[longer than before the long queue = bool(largest["20 places: ms"] > 1.2 * largest["long: ms"])]]; for most sizes it took [[longer than with ten = bool(largest["20 places: ms"] > tried.iloc[0]["20 places: ms"])]], too. **A larger initial window is a bet on the room in a queue
# that the sender has never seen.** RFC 6928 (section 12) therefore asks a sender to remember where a large first window went wrong,
# and to begin smaller there.
#
# ### Exercise 3: a staircase of your own
#
# Measure one. Build a network with the hosts `h1` and `h2`, [[rate_mbps]] Mbit/s and a delay of [[delay_ms]] ms on each way. Send six TCP transfers or more from `h1` to `h2`, each with another
# `num_bytes`, and each started when the one before is over (`start_s=...`). Nothing may be lost. Your transfers must lie on at least four different stairs, each within 5 % of your function. Keep the run as `my_run`,
# and print its `completion_s` beside your function.

# %% id="staircase"
my_run = ...
# BEGIN SOLUTION NO PROMPT
my_network = nl.Topology(
    ["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=own.rate_mbps, delay_ms=own.delay_ms, queue_packets=1000)]
)
my_sizes = [1448 * segments for segments in (1, 10, 11, 30, 31, 70, 71, 150)]
my_flows = [nl.Tcp("h1", "h2", num_bytes=size, start_s=2 * number) for number, size in enumerate(my_sizes)]
my_run = nl.run(my_network, my_flows, duration_s=2 * len(my_sizes))
for size, completion_s in zip(my_sizes, my_run.flows["completion_s"]):
    print(f"{size:6d} bytes: {1000 * completion_s:4.0f} ms, stairs {stairs_ms(size, 2 * own.delay_ms, 10):4.0f} ms")
# END SOLUTION

# %% id="staircase-check"
chapter.check.staircase(my_run)

# %% [markdown] id="crowd-text"
# ## Part 4: the page that takes five times as long
#
# So far nothing was lost. Now a link of 10 Mbit/s loses one packet in a hundred, by chance, in both directions. Sixty pages of 20 kB go over it, one after the
# other, 100 ms away. Theory without loss says [[256 = nl.theory.short_flow_ms(20_000, 10, 100) | .0f]] ms for each.

# %% id="crowd" tags=["figure"]
crowd = experiments.crowd_run(seed=1)
experiments.crowd_figure(crowd)

# %% [markdown] id="crowd-why"
# [[Most pages = float((crowd.flows["retransmits"] == 0).mean()) | 0.7 .. 0.95]] do not notice. It is not *how many* packets are lost that counts: the slowest page sent [[one = int(crowd.flows.loc[crowd.flows["completion_s"].idxmax(), "retransmits"]) | 1 .. 1]] packet again. Here is
# every packet of that page, captured at `h1`.

# %% id="slowest" tags=["folded"]
slowest = int(crowd.flows["completion_s"].idxmax())
widths = {"from": 5, "flags": 6, "acknowledges": 13}
print(experiments.page_packets(crowd, slowest).head(16).to_string(index=False, col_space=widths))
print(f"completion: {1000 * crowd.flows['completion_s'][slowest]:.0f} ms")

# %% [markdown] id="outlier-words" tags=["minutes-12"]
# ### Exercise 4: explain the outlier
#
# The flags are `S` for SYN, `A` for an acknowledgement, `P` for push. Which packet was lost? How did the sender notice, and what did it wait for? Why could no acknowledgement tell it earlier, as with a lost segment in the middle
# of a transfer? Three to five sentences, with the times that you read off.
#
# <!-- BEGIN SOLUTION -->
# The first packet, the SYN, got no answer: the second line is the same SYN again, about [[1024 = float(experiments.page_packets(crowd, slowest)["t (ms)"].iloc[1]) | .0f]] ms later. (The SYN or its SYN-ACK was lost. At `h1` nobody can tell which.) The sender noticed only by its
# timer, which is one second for a SYN, because it has not yet measured a round trip and cannot know that 100 ms would be long enough. A segment lost in the middle is followed by others; their acknowledgements
# tell the sender of the gap after one round trip. After the SYN nothing is sent until it is answered, so nothing can tell. From the SYN-ACK on, 100 ms after the second SYN, all goes as usual.
#
# Rubric:
#
# - names the lost packet (the SYN or its answer), from the two equal lines at the start;
# - says that a timer of about a second ended the wait, and that the sender had no measured round-trip time;
# - says why no acknowledgement could help: nothing follows a SYN, while segments behind a gap are acknowledged.
# <!-- END SOLUTION -->

# %% [markdown] id="lost-text"
# ### The second experiment
#
# (Read this after you have written your answer.) Is that the reason? Test it: lose one packet on purpose, and nothing else. The page has sixteen segments, ten in the first burst and six in the last, and the link is cut for a moment when the chosen packet
# passes.

# %% id="lost" tags=["folded"]
lost = experiments.lost_table()
print(lost.to_string(index=False, float_format="%.0f"))
more_ms = lost.set_index("lost")["more (ms)"]

# %% [markdown] id="lost-why"
# - **In the first burst** a lost segment costs [[1 = more_ms["a segment of the first burst"] | .0f]] ms: the segments behind it are acknowledged (SACK), and the gap is filled while the last burst is on its way.
# - **In the last burst** the gap is found in the same way, but then nothing else is on its way: the page waits [[100 = more_ms["a segment of the last burst"] | .0f]] ms for it, a round trip.
# - **The last segment** has nothing behind it. The sender waits [[0.4 = more_ms["the last segment"] / 1000 | .1f]] s in all, then retransmits it as a probe: a *tail loss probe* (RFC 8985). No timeout is counted.
# - **The SYN** costs [[1.0 = more_ms["the SYN"] / 1000 | .1f]] s: the first timer (RFC 6298, section 2), which knows nothing of the path.
#
# ### Exercise 5: how often?
#
# A handshake fails at once when its SYN or its SYN-ACK is lost. If each is lost with a chance of 1 %, that is $1 - 0.99^2$ = [[2.0 = 100 * (1 - 0.99**2) | .1f]] %:
# [[one page in fifty = 1 / (1 - 0.99**2) | 49.5 .. 50.5]] would take [[five times = (more_ms["the SYN"] + nl.theory.short_flow_ms(20_000, 10, 100)) / nl.theory.short_flow_ms(20_000, 10, 100) | 4.8 .. 5.2]] as long, whatever the link's rate. Do so many? `chapter.settings.lossy_pages(own)` is sixty such
# pages on a path that loses [[loss_percent]] %. As in the chapter BDP: `my_table` of `nl.repeat` with 8 to 30 seeds of your choice. With `my_table["late"] = 100 * (my_table["completion_s"] > 0.9)`
# the share of late pages in % is `my_table.groupby("seed")["late"].mean()`. Then `my_interval` and `my_figure` of these shares,
# and `my_verdict`: is the chance that a handshake fails `"above"` your interval, `"inside"` it or `"below"` it?

# %% id="repeated"
my_table = my_interval = my_figure = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_table = nl.repeat(chapter.settings.lossy_pages(own), seeds=10)
my_table["late"] = 100 * (my_table["completion_s"] > 0.9)
my_shares = my_table.groupby("seed")["late"].mean()
my_interval = nl.interval(my_shares)
mean, half = my_interval
my_figure = my_shares.reset_index().plot(kind="scatter", x="seed", y="late", title="Pages that took more than 0.9 s")
my_figure.add_hrect(y0=mean - half, y1=mean + half, opacity=0.2)
my_figure.update_yaxes(title_text="Late pages (%)")
theory = 100 * (1 - (1 - own.loss_percent / 100) ** 2)
my_figure.add_hline(y=theory, annotation_text="theory")
my_verdict = "above" if theory > mean + half else "below" if theory < mean - half else "inside"
# END SOLUTION
my_finding = [my_table, my_interval, my_figure, my_verdict]

# %% id="repeated-check" tags=["figure", "minutes-13"]
chapter.check.repeated(my_finding)

# %% [markdown] id="summary"
# ## Summary
#
# A short transfer takes $T_0(j + \frac12)$: round trips, and the link's rate decides only once a window fills the path. A larger initial window saves rounds and sends a larger burst into
# a queue that nobody has measured. A page becomes several times slower if nothing follows the lost packet, because then only a timer can tell: 0.4 s for the last segment, a whole second for the SYN.

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
# Real pages come over TLS, which adds a round trip to the handshake (TLS 1.3; two with TLS 1.2), or over QUIC, whose handshake includes it, and from several servers. A name must be looked up first. The sender here has all data at once, and computing takes no time. Losses by chance
# are not those of a full queue, which come in bursts.

# %% id="versions" tags=["nbval-ignore-output"]
settings = crowd.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
