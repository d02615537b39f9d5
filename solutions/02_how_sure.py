# %% [markdown] id="title"
# # How sure are you?
#
# **Two queues, one run each. One lost less. Does it always lose less?**
# After this chapter you can
#
# 1. give the mean of some runs with its 95 % interval, and say what the interval promises;
# 2. choose how many runs you need, and compare two settings with few of them;
# 3. notice when a narrow interval lies around a wrong number.
#
# *Time*: [[minutes]] minutes. *Builds on*: UDP loss. *Runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np

import netlab as nl
from netlab_course.chapters import how_sure
from netlab_course.chapters.how_sure import experiments

chapter = how_sure.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# - A link loses each datagram with the same chance. You measure its loss rate five times and compute a 95 % interval. You do all of that
#   twenty times. How many of the twenty intervals do *not* hold the true loss rate?
# - Then you make four times as many measurements for each interval: twenty, not five. How many times narrower is it?

# %% id="predict"
my_misses = 1  # SOLUTION
my_times = 2  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "The standard error falls with the root of the number, here of four."
# END SOLUTION

misses_prediction = nl.checks.predict("intervals that miss", my_misses, low=0, high=20)
times_prediction = nl.checks.predict(
    "times narrower", my_times, low=1, high=20, reason=my_reason
)

# %% [markdown] id="rooms-text"
# ## Part 1: one run is one draw
#
# A host sends 4.6 Mbit/s in datagrams of 1000 bytes over a link of 5 Mbit/s. That fits. But the datagrams leave at random moments, and
# sometimes many come at once. Then the queue before the link fills up, and some are lost.
#
# We compare two queues. One has room for 20 packets, the other for 22. A longer queue never loses more of the same traffic, so we know which of them
# loses less. (It also lets packets wait longer.) Can a measurement tell which one loses less?


# %% id="network" tags=["figure"]
def bursts(queue_packets):
    """A scenario: datagrams at random moments into a queue with room for this many packets."""
    network = nl.topologies.chain([None, 5], [0, 0], queue_packets)  # Mbit/s, ms, packets
    flow = nl.Udp("h1", "h2", rate_mbps=4.6, payload_bytes=1000, spacing="random")
    return nl.Scenario(network, [flow], duration_s=4)


nl.plots.topology(bursts(20).topology, title="One queue, with room for 20 or for 22 packets")

# %% [markdown] id="repeat-text"
# `nl.repeat` runs a scenario with several *seeds*. A seed is a number that fixes all that is random in a run: here the moments at which
# datagrams leave. The first queue gets the seeds 1 to 8, the second 9 to 16.

# %% id="rooms"
small_table = nl.repeat(bursts(20), seeds=8)
other_table = nl.repeat(bursts(22), seeds=range(9, 17))
small = 100 * small_table.set_index("seed")["loss_rate"]
other = 100 * other_table.set_index("seed")["loss_rate"]
print("Lost datagrams in per cent, and their mean delay in ms")
print(experiments.rooms_table(small_table, other_table).round(2).to_string())

# %% [markdown] id="rooms-why"
# Look at the first row only: one run of each. The larger queue lost *more*: [[1.04 = other.iloc[0] | .2f]] % against [[0.96 = small.iloc[0] | .2f]] %. In
# [[two = int((small.to_numpy() < other.to_numpy()).sum()) | 2 .. 2]] of the eight rows the order is wrong. With [100 runs of each](#Optional:-how-much-pairs-help)
# [[60 % = 100 * float(np.greater.outer(*(values.to_numpy() for values in values_of["two queues"])).mean()) | 59.5 .. 60.5]] of all pairs have the right order. **One run of each is hardly better than a coin toss.**
#
# ## Part 2: the interval
#
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $r$ | `runs` | | independent runs, one value $x_i$ from each |
# | $\bar x$ | `mean` | of the values | their mean |
# | $s$ | `scatter` | of the values | their standard deviation: how far single runs lie apart |
# | $h$ | `half_width` | of the values | half the width of the 95 % interval |
# | $t_r$ | `student_t` | | Student's factor for $r$ values |
#
# Single runs scatter by $s$. Its square, the *variance*, is the mean squared distance from the true mean. You know only $\bar x$, and the values lie nearer to
# their own mean than to the true one. So divide the sum of the squares by $r-1$.
#
# The mean of $r$ runs scatters less; its standard deviation is called the **standard error**. Two facts say how large it is. The variance of a sum of independent values is the sum of
# their variances. And what is divided by $r$ has a standard deviation that is divided by $r$.
#
# The 95 % interval reaches $t_r$ standard errors to each side of $\bar x$. The factor $t_r$ is there because $s$ itself is a guess from a few values (Student, 1908). It is [[12.7 = student_t(2) | .1f]] for two values, [[2.78 = student_t(5) | .2f]] for five,
# [[2.09 = student_t(20) | .2f]] for twenty, and [[1.96 = student_t(5000) | .2f]] for very many. `nl.theory.student_t(5)` gives it.
#
# *When it holds*: the runs are independent, and their values are not far from normally distributed.
#
# ### Exercise 1: derive it
#
# Derive $h$ from the two facts, on paper, and write the function. It takes a list of two or more numbers and returns two numbers: the mean, and $h$. A worked example
# to test yourself: the values [[worked_text]] give [[worked_mean:.4g]] and [[worked_half:.4g]]. Tolerance: [[tolerance]]. (`np.mean` and `np.std` are there. Which `ddof` does $s$ need?)


# %% id="interval"
def interval(values):
    """Mean of the values, and half the width of its 95 % interval."""
    # BEGIN SOLUTION
    scatter = np.std(values, ddof=1)
    return np.mean(values), nl.theory.student_t(len(values)) * scatter / len(values) ** 0.5
    # END SOLUTION


# %% id="interval-check"
chapter.check.interval(interval)

# %% [markdown] id="twenty-text"
# <details><summary><b>The formula</b> (Open it when you have your own.)</summary>
#
# $$s = \sqrt{\frac{1}{r-1}\sum_{i=1}^{r}\left(x_i-\bar x\right)^2}, \qquad h = t_r\,\frac{s}{\sqrt r}$$
#
# The sum of $r$ values has the variance $r s^2$, so the standard deviation $\sqrt r\, s$. The mean is the sum over $r$.
#
# </details>
#
# ### Twenty intervals
#
# What does "95 %" promise? Here is a case in which the truth is known: a link that loses each datagram independently, with
# probability 0.1. Twenty flows of 200 datagrams each cross it. We repeat that with five seeds. So we have five values of each flow, and
# twenty intervals.

# %% id="twenty" tags=["figure"]
links = [nl.Link("h1", "r1"), nl.Link("r1", "h2", loss_rate=0.1)]
lossy_path = nl.Topology(["h1", "h2"], ["r1"], links=links)
datagrams = 200  # of each flow, in one second
rate_mbps = datagrams * 100 * 8 / 1e6  # 100 bytes each, all in one second
flow = nl.Udp("h1", "h2", rate_mbps=rate_mbps, payload_bytes=100, duration_s=1, spacing="even")
draws = nl.repeat(lossy_path, [flow] * 20, duration_s=1.2, seeds=5)
mine = chapter.check.interval.take(interval, nl.interval)
twenty = [mine(values) for _, values in draws.groupby("flow")["loss_rate"]]
experiments.strokes_figure(twenty, truth=0.1, title="Twenty intervals of five values each")

# %% id="twenty-compare" tags=["folded"]
misses = int(experiments.miss_mask(twenty, 0.1).sum())
misses_prediction.compare(misses, theory=0.05 * 20)
of_five = np.mean([half for _, half in twenty])
of_twenty = np.mean([mine(values)[1] for _, values in draws.groupby("seed")["loss_rate"]])
student_t = nl.theory.student_t
# The s of few values is too small on average: with five it is 0.940 of the truth, with
# twenty 0.987.
expected_times = 0.940 * student_t(5) / 5**0.5 / (0.987 * student_t(20) / 20**0.5)
times_prediction.compare(of_five / of_twenty, theory=expected_times)

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# The standard error is indeed half as wide with four times as many values. But the interval is Student's factor times the standard error, and the
# factor falls from 2.78 for five values to 2.09 for twenty. So the interval is 2.5 to 2.6 times narrower. My model took the factor for a constant.
#
# Rubric:
#
# - compares the number with the measured 2.6;
# - the root of four, for the standard error;
# - Student's factor, which also falls, with its values or its ratio.
# <!-- END SOLUTION -->

# %% [markdown] id="twenty-why"
# **The promise is about the method, not about one interval.** The true value is fixed; the intervals vary. In the long run one in twenty misses. Here
# it is [[one = misses | 1 .. 1]]. That is chance, too: with a chance of [[36 = 100 * 0.95**20 | .0f]] % none of twenty misses, and with one of [[19 = 100 * 190 * 0.05**2 * 0.95**18 | .0f]] % two do. An interval does not show
# whether it is one of those that miss. So a paper with twenty honest intervals has, on average, one that is wrong.
#
# <details><summary><b>Why not two times?</b> (Open it when you have an answer of your own.)</summary>
#
# Four times as many values halve the *standard error*. The interval became [[2.6 = of_five / of_twenty | .1f]] times narrower here, because Student's factor falls as well
# (theory: [[2.53 = expected_times | .2f]]; it also counts that $s$ is too small on average, by 6 % for five values).
#
# </details>
#
# From twenty values on the factor hardly changes, and the plain rule is right: **half the width costs four times the runs.**
#
# ### Exercise 2: how many runs?
#
# You measured a delay in twelve trial runs. They scatter by $s$ = [[scatter_ms]] ms. You want the mean to within [[wanted_ms]] ms: $h$ = [[wanted_ms]] ms. How many runs
# do you need at least, the twelve included? Suppose that $s$ stays what it is, and take Student's factor for all the runs. Tolerance: [[tolerance]].

# %% id="runs"
needed_runs = ...
# BEGIN SOLUTION NO PROMPT
needed_runs = 2
while nl.theory.student_t(needed_runs) * own.scatter_ms / needed_runs**0.5 > own.wanted_ms:
    needed_runs += 1
# END SOLUTION

# %% id="runs-check" tags=["minutes-8"]
chapter.check.runs(needed_runs)

# %% [markdown] id="pairs-text"
# ## Part 3: the same chance for both
#
# Back to the two queues. In the first table they had different seeds, so they saw different traffic. Most of the scatter comes from the *arrivals*: a run
# with a big burst loses much in either queue. So give both queues the same seeds. Then each pair of runs has the same arrivals, datagram for datagram. What differs
# is the queue alone.
#
# For each seed take the *difference* of the two loss rates. Then take the interval of the differences, the shaded band. (These are **paired differences**.)

# %% id="pairs" tags=["figure"]
large_table = nl.repeat(bursts(22), seeds=8)
large = 100 * large_table.set_index("seed")["loss_rate"]
experiments.pairs_figure(small, large)

# %% id="pairs-table" tags=["folded"]
print("Loss with room for 20 minus loss with room for 22")
differences = experiments.difference_table(small, other, large)
print(differences.round(3).to_string(index=False, col_space=8))
unpaired, paired = nl.interval(small, other), nl.interval(small - large)

# %% [markdown] id="pairs-why"
# The same eight runs of each, and now the order is right in [[all eight = bool((small > large).all())]] pairs. The interval is [[eleven = unpaired.half_width / paired.half_width | 10.5 .. 11.5]] times narrower, and it does not hold 0. Eight runs estimate
# this ratio poorly; with [200 runs of each](#Optional:-how-much-pairs-help) it is about eight. So without pairs we would need about sixty times the runs.
#
# **Two independent samples.** Runs with other seeds have no partner, so there is nothing to subtract row by row: another order of the rows would give another
# interval. `nl.interval(small, other)` computes the interval of the difference of two independent means (Welch, 1947): $h = t\sqrt{s_1^2/r_1 + s_2^2/r_2}$. Its $t$ is that
# of up to $r_1 + r_2 - 1$ values, not of eight, because both samples tell something about the scatter.
#
# <details><summary><b>Why?</b> (Open it when you have an answer of your own.)</summary>
#
# The two curves go up and down together: their correlation is [[0.99 = float(np.corrcoef(small, large)[0, 1]) | .2f]]. Subtracting removes what both have in common.
#
# </details>
#
# Pairing helps only if the seed gives both settings the same random events. Datagrams that leave at random moments do so whatever the network does, so here both see the same traffic. TCP answers to
# the network: after the first loss two runs go different ways, and pairs help less. Try it before you count on it.

# %% [markdown] id="changed-text"
# **Change one thing.** Let the other queue have room for 30 packets, not 22. The difference grows. Does its interval become wider or narrower? Predict, then run it.

# %% id="changed"
changed_queue_packets = 30
changed_table = nl.repeat(bursts(changed_queue_packets), seeds=8)
changed = nl.interval(small - 100 * changed_table.set_index("seed")["loss_rate"])
print(f"Room for 20 minus room for 22: {paired:.3f} % of the datagrams")
print(f"Room for 20 minus room for {changed_queue_packets}: {changed:.3f}")

# %% [markdown] id="decision-text"
# ### Exercise 3: three queues, twenty-four runs
#
# Which of the queues A, B and C loses the fewest datagrams? `candidate("A")` is a scenario
# with A in it: [[offered_kbps]] kbit/s at random moments over 5 Mbit/s, for 5 s. You may make **24 runs in all**. Hand over a list of three:
#
# - `my_tables`, a dictionary with a table of `nl.repeat` for each letter;
# - `my_interval`, the interval of the differences: the loss rate (a fraction) of the next best queue minus the loss rate of your choice, fresh seed by fresh seed;
# - `my_choice`, the letter of the queue that loses the fewest.
#
# The check wants an interval that does not hold 0. Twenty-four runs are enough, but not for every plan. First a few runs of each queue, two or more, show which one is out. Then compare the other two
# with **fresh seeds**, five or more, which the third queue's table does not have: a queue may have been chosen *because* the first seeds suited it, so with these its lead looks larger than it is.
# The first runs count for all three queues, even if you do not hand them over.


# %% id="candidate"
def candidate(letter):
    """A scenario with the queue "A", "B" or "C" before the slow link."""
    queue = chapter.settings.unknown_queue(own, letter)
    network = nl.topologies.chain([None, 5], [0, 0], **queue)
    rate_mbps = own.offered_kbps / 1000
    flow = nl.Udp("h1", "h2", rate_mbps=rate_mbps, payload_bytes=1000, spacing="random")
    return nl.Scenario(network, [flow], duration_s=5)


# %% id="decision"
my_tables = my_interval = my_choice = ...
# BEGIN SOLUTION NO PROMPT
# Two runs of each show which one is out. The other eighteen go to the two that are close,
# with fresh seeds.
my_tables = {queue: nl.repeat(candidate(queue), seeds=2) for queue in "ABC"}
best, second, _ = sorted("ABC", key=lambda queue: my_tables[queue]["loss_rate"].mean())
for queue in (best, second):
    my_tables[queue] = nl.repeat(candidate(queue), seeds=range(3, 12))
losses = {queue: table.set_index("seed")["loss_rate"] for queue, table in my_tables.items()}
best, second = sorted((best, second), key=lambda queue: losses[queue].mean())
my_choice = best
my_interval = nl.interval(losses[second] - losses[best])
# END SOLUTION
my_decision = [my_tables, my_interval, my_choice]

# %% id="decision-check" tags=["minutes-15"]
chapter.check.decision(my_decision)

# %% [markdown] id="wrong-text"
# ## Part 4: sure, and wrong
#
# An interval does not show an error that all runs share. Here are two traps.
#
# ### The warm-up
#
# A host offers 6 Mbit/s to a link of 5 Mbit/s. In the long run the queue (room for 200 packets) is full, and each packet waits there for about a third of a second.
# But each run begins with an empty queue. Eight runs of 6 s, a ping every 50 ms: what is the mean round-trip time? Each row of the table leaves
# out more of the start.

# %% id="warm-up"
network = nl.topologies.three_pcs(rate_mbps=5, queue_packets=200)
flow = nl.Udp("h1", "h3", rate_mbps=6, payload_bytes=1000, spacing="random")
traffic = [flow, nl.Ping("h1", "h3", interval_s=0.05)]
filling = [nl.Scenario(network, traffic, duration_s=6, seed=seed) for seed in range(1, 9)]
warm_up = experiments.warm_up_table(nl.sweep(filling), cuts_s=[0, 1, 2, 3])
print(warm_up.round(1).to_string(index=False))
rtt_ms = warm_up.set_index("left out (s)")["mean RTT (ms)"]
half_ms = warm_up.set_index("left out (s)")["half width (ms)"]

# %% [markdown] id="warm-up-why"
# Which row would you publish? And would more runs improve the first row?
#
# <details><summary><b>Our answer</b> (Open it when you have yours.)</summary>
#
# With nothing left out the interval is [[279 ± 6 = f"{rtt_ms[0]:.0f} ± {half_ms[0]:.0f}" | s]] ms. But the mean in the long run, which it should give, is [[324 = rtt_ms[2] | .0f]] ms. **The interval is narrow, and far from the truth.** More runs
# would make it narrower around the same wrong number. This is **bias**: an error that all runs share. The cure is to leave out the start, which is called the *warm-up*. The run
# itself shows how long it lasts: from 2 s on it no longer matters how much is left out ([[324 = rtt_ms[3] | .0f]] ms with 3 s).
#
# </details>
#
# ### A seed that changes nothing
#
# Now two hosts send at exactly equal intervals of time, 1 and 9 Mbit/s, over a link of 5 Mbit/s. What does the modest host `h1` lose? Three seeds for each row. The
# rows differ in one thing: how much later than `h2` host `h1` starts.


# %% id="clockwork"
def periodic(later_ms):
    """A scenario of two exactly periodic flows; h1 starts this much later than h2."""
    network = nl.topologies.three_pcs(rate_mbps=5, queue_packets=100)
    h1 = nl.Udp("h1", "h3", rate_mbps=1, spacing="even", start_s=later_ms / 1000)
    h2 = nl.Udp("h2", "h3", rate_mbps=9, spacing="even")
    return nl.Scenario(network, [h1, h2], duration_s=4)


cases = {later_ms: periodic(later_ms) for later_ms in (0, 0.1, 1)}
table = nl.repeat(cases, seeds=3, case="h1 starts later by (ms)")
clockwork = experiments.clockwork_table(table)
print(clockwork.round(3).to_string(index=False))
clock_losses = clockwork["loss rate"]

# %% [markdown] id="clockwork-why"
# Each row says ± 0. How sure are you of these three numbers?
#
# <details><summary><b>Our answer</b> (Open it when you have yours.)</summary>
#
# The three runs of a row agree in [[every digit = bool((clockwork["half width"] == 0).all())]]. But a tenth of a millisecond moves the result from [[0.44 = clock_losses[0] | .2f]] to [[0.91 = clock_losses[1] | .2f]]. Nothing in this set-up is random, so the seed has nothing to
# decide. **± 0 does not mean sure. It means that you have not varied what matters.** Here that is the moment of the start. If
# real senders start at any moment, draw that moment at random in each run.
#
# </details>
#
# Whenever an interval is zero, or much too good, ask what a seed changes.

# %% [markdown] id="sentence-text"
# ## Part 5: a published number
#
# The `epfl` lab (lab 5 of *TCP/IP Networking*, EPFL, 2021) sends 1 Mbit/s from `h1` and 4 Mbit/s from `h2` over one link of 5 Mbit/s. The lab reports one
# number for each: `h1` lost 3.58 %, `h2` lost 4.11 %. Here are eight runs of ours, with datagrams at random
# moments, and the interval of the difference.

# %% id="modest"
network = nl.topologies.three_pcs(rate_mbps=5, queue_packets=100)
both = [
    nl.Udp("h1", "h3", rate_mbps=1, spacing="random"),
    nl.Udp("h2", "h3", rate_mbps=4, spacing="random"),
]
modest = experiments.modest_table(nl.repeat(network, both, duration_s=15, seeds=8))
print("Lost datagrams in per cent")
print(modest.round(2).reset_index().to_string(index=False, col_space=5))
modest_gap = nl.interval(modest["difference"])
print(f"difference: {modest_gap.mean:.2f} ± {modest_gap.half_width:.2f}")

# %% [markdown] id="sentence-words" tags=["minutes-12"]
# ### Exercise 4: judge a sentence
#
# Somebody reads the lab's two numbers and writes: "The queue is kinder to the modest host: it loses half a percentage point less." What do the lab's numbers
# show, what do ours show, and what would you write in its place? Three to five sentences.
#
# <!-- BEGIN SOLUTION -->
# The lab has one run, and one run has no interval: its 0.53 percentage points cannot be told from chance. In our runs the difference scatters so much that single runs
# give anything from [[about -0.5 = modest["difference"].min() | -0.6 .. -0.4]] to [[0.7 = modest["difference"].max() | .1f]] points: a run with the lab's difference is among them, and one with the opposite sign too. The interval of the difference [[holds 0 = bool(abs(modest_gap.mean) < modest_gap.half_width)]], so our
# eight runs do not show that either host loses more. They do not show that both lose the same, either: a difference of a third of a point would fit. I would write: "In one run `h1` lost 3.58 and `h2` 4.11 %;
# how far such numbers scatter from run to run was not measured."
#
# Rubric:
#
# - says that the lab has one run of each, so no interval, and that its difference is within what single runs scatter;
# - uses the interval of the difference (not two separate intervals) and that it holds 0;
# - does not turn "holds 0" into "there is no difference", and writes a sentence that claims no more than was measured.
# <!-- END SOLUTION -->

# %% [markdown] id="sentence-why"
# <details><summary><b>A verdict</b> (open it when you have written yours)</summary>
#
# The sentence claims too much. A difference of 0.53 points is what single runs give by chance here. Our interval holds 0, so our runs show nothing, in either direction: "no difference was found" is not "there is
# none". In theory there is none: datagrams that come at random moments find the queue full equally often, from either sender (Wolff, 1982).
#
# </details>

# %% [markdown] id="summary"
# ## Summary
#
# A mean needs an interval, $h = t_r s/\sqrt r$; in the long run one in twenty of them misses, and half the width costs four times the runs. Compare two settings with the
# same seeds and take the interval of the differences: what both have in common drops out. An interval shows the scatter of your runs and nothing else, so look
# for errors that all of them share: a warm-up, or a seed that changes nothing.

# %% [markdown] id="helped-text"
# ## Optional: how much pairs help
#
# With 100 runs of each setting the ratio of both intervals is known to about a tenth. First the two queues, then Reno and CUBIC over a link that loses one packet in a
# thousand. Which ratio is the largest? (These are 600 runs.)


# %% id="with-tcp"
def reno_and_cubic(delay_ms):
    """Scenarios of 10 s: each control alone over a link that loses data at random."""
    lossy = {"loss_rate": 0.001, "reverse": {"loss_rate": 0}}
    slow = nl.Link("r1", "h2", rate_mbps=10, delay_ms=delay_ms, queue_packets=100, **lossy)
    path = nl.Topology(["h1", "h2"], ["r1"], links=[nl.Link("h1", "r1"), slow])
    flows = [nl.Tcp("h1", "h2", congestion=control) for control in ("reno", "cubic")]
    return [nl.Scenario(path, [flow], duration_s=10) for flow in flows]


# %% id="helped"
values_of, times_narrower = {}, {}
for name, pair, column in (
    ("two queues", [bursts(20), bursts(22)], "loss_rate"),
    ("TCP over 10 ms", reno_and_cubic(10), "goodput_mbps"),
    ("TCP over 20 ms", reno_and_cubic(20), "goodput_mbps"),
):
    one, two = (nl.repeat(scenario, seeds=100)[column] for scenario in pair)
    values_of[name] = one, two
    apart, in_pairs = nl.interval(one, two), nl.interval(one - two)
    times_narrower[name] = apart.half_width / in_pairs.half_width
    print(f"{name}: {times_narrower[name]:.1f} times narrower in pairs")

# %% [markdown] id="helped-why"
# The same seeds make the interval [[nine = times_narrower["two queues"] | 8.5 .. 9.5]] times narrower for the two queues, [[1.7 = times_narrower["TCP over 10 ms"] | .1f]] times for TCP with a delay of 10 ms and [[3.0 = times_narrower["TCP over 20 ms"] | .1f]] times with 20 ms.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# The panel draws twenty intervals again. Each value is a flow's loss rate; the true one is 0.1. Take two values for each interval, and the
# factor 1.96 in place of Student's: how many miss? Then the factor 1, which is the standard error that many papers print. Look at five draws of each.

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="open"
# ## Open exercises
#
# - How many datagrams must each flow send until five values give an interval of ± 0.005? Predict it, then change `datagrams` in the cell of the twenty intervals.
# - Do pairs help with TCP? Compare `congestion="reno"` and `"cubic"` on one path, with other seeds and with the same ones.
# - Cut one long run of `bursts(20)` into pieces and take the interval of the pieces. When may you do that, and when do the
#   pieces depend on each other?
# - **Challenge.** Draw the start of `h1` at random in each run of the clockwork pair. How many runs does it take to know its mean loss to
#   within 0.05?
#
# ## Sources
#
# - Student, The probable error of a mean, Biometrika 6, 1908.
# - R. Jain, The Art of Computer Systems Performance Analysis, Wiley, 1991: intervals and paired observations (chapter 13), warm-up.
# - B. L. Welch, The generalization of "Student's" problem when several different population variances are involved, Biometrika 34, 1947.
# - R. W. Wolff, Poisson arrivals see time averages, Operations Research 30(2), 1982.
# - `epfl`: Congestion control; TCP, UDP: lab 5 of *TCP/IP Networking*, EPFL, 2021, section 1.3.
#
# ## Limits
#
# Loss rates near 0 are far from normally distributed, and there the formula is too optimistic. Each run sends a fixed number of datagrams at random moments, so
# runs scatter less than with a true Poisson process. Real machines add scatter of their own, which virtual time does not have.

# %% id="versions" tags=["nbval-ignore-output"]
print(f"netlab {nl.__version__}; seeds 1 to 16")
