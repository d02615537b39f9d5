# %% [markdown] id="title"
# # Your own congestion control
#
# **Can you beat CUBIC on a path that you have not seen?**
#
# Linux's TCP asks a class of yours at each acknowledgement how much may be in flight. Everything else (what was lost, what is
# sent again, the other end) stays Linux's.
#
# After this chapter you can
#
# 1. say where a window lies in the plane of rate and delay, and where the best one lies;
# 2. write a congestion control, and see what each rule in it does;
# 3. show with an interval that one control is better than another, and say where that ends.
#
# *Time*: [[minutes]] minutes. *Builds on*: BDP; Congestion control. *Runs on*: any machine on which the next cell says "Ready"
# with the library kernel (a browser tab, too). Only that kernel can ask your classes.

# %% id="imports" tags=["nbval-ignore-output"]
import netlab as nl
from netlab_course.chapters import own_control
from netlab_course.chapters.own_control import experiments

chapter = own_control.begin()
own = chapter.own
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# A link of 10 Mbit/s, an RTT of 40 ms with an empty queue, and room for 200 packets. There is one flow, and its window never changes. Write down two numbers before you see the results, and your reason for the second one in a sentence. The numbers are not graded.
#
# - With a window of 10 segments: how many Mbit/s of data arrive?
# - With a window of 200 segments: how many ms is the RTT?

# %% id="predict"
my_goodput_mbps = 5  # SOLUTION
my_rtt_ms = 100  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "40 ms of the path and some waiting in the queue."
# END SOLUTION

goodput_prediction = nl.checks.predict(
    "goodput of 10 segments", my_goodput_mbps, unit="Mbit/s", low=0, high=10
)
rtt_prediction = nl.checks.predict(
    "RTT of 200 segments", my_rtt_ms, "ms", low=40, high=1000, reason=my_reason
)

# %% [markdown] id="network-text"
# ## Fixed windows
#
# The two senders and the two receivers share one link. We begin with one flow.

# %% id="network" tags=["figure"]
steady = nl.topologies.dumbbell(pairs=2, rate_mbps=10, delay_ms=20, queue_packets=200)
nl.plots.topology(steady, title="Two senders, one slow link")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $R$ | `rate_mbps` | Mbit/s ($10^6$ bit/s) | rate of the link |
# | $T_0$ | `base_rtt_ms` | ms | round-trip time with empty queues |
# | $T$ | `rtt_ms` | ms | round-trip time, queueing included |
# | $W$ | `cwnd_segments` | segments | window: data in flight without acknowledgement |
# | $t_f$ | `frame_ms` | ms | time in which the link sends a full frame (1448 bytes of data, 66 of headers): $8 \cdot 1514 / (1000 R)$ |
# | $G$ | `goodput_mbps` | Mbit/s | application data that arrives, each byte once |
#
# **Little's law**: the data in flight is the rate times the round-trip time. **Power** is $G/T$: more is better.

# %% [markdown] id="fixed-text"
# ### Run it
#
# `Window` below is a congestion control. `on_start` gets the flow. Any method may set the flow's window. `on_ack` and `on_loss` do
# nothing; methods that a class omits behave like Linux Reno.


# %% id="fixed" tags=["figure"]
class Window:
    """A window that stays as it is."""

    def __init__(self, segments):
        self.segments = segments

    def on_start(self, flow):
        flow.cwnd_segments = self.segments

    def on_ack(self, ack): ...
    def on_loss(self, loss): ...


def with_window(segments, network=steady):
    """A scenario: one flow with a window of this many segments, for 5 s."""
    flow = nl.Tcp("h1", "h3", congestion=Window(segments))
    return nl.Scenario(network, [flow], duration_s=5)


runs = nl.sweep({segments: with_window(segments) for segments in (10, 20, 33, 50, 100, 200)})
fixed = experiments.windows_table(runs)
experiments.windows_figure(fixed)

# %% [markdown] id="delay-text"
# ### Exercise 1: derive the RTT
#
# Which $T$ does a fixed window give to a flow alone? As long as no packet waits, it is easy. If the window is larger than what the path holds, the link is always busy: how many frames of 1514 bytes does it send between a segment and its
# acknowledgement, and how long does that take? Write one function for both. A worked number to test yourself: [[worked_window]] segments at [[worked_rate_mbps]] Mbit/s, on a path of 20 ms, have an RTT
# of [[worked_rtt_ms:.4g]] ms. Tolerance: [[tolerance]].


# %% id="delay"
def rtt_ms(window_segments, rate_mbps, base_rtt_ms):
    """The RTT of a flow alone with a fixed window, in ms."""
    # BEGIN SOLUTION
    return max(base_rtt_ms, window_segments * 1514 * 8 / (rate_mbps * 1000))
    # END SOLUTION


# %% id="delay-check" tags=["minutes-8"]
chapter.check.delay(rtt_ms)

# %% [markdown] id="delay-why"
# <details><summary><b>The formula</b> (Open it when you have your own.)</summary>
#
# As long as no packet waits, $T = T_0$. Between a segment and its acknowledgement a busy link sends all $W$ frames of a window: $T = W t_f$. So $T = \max(T_0,\; W t_f)$.
#
# </details>
#
# At which window does power have its peak, by your function? Say it before you run the next two cells.

# %% id="fixed-table"
by_theory = chapter.check.delay.take(rtt_ms, chapter.check.delay.reference)
fixed["theory_ms"] = [by_theory(size, 10, 40) for size in fixed["window"]]
fixed["power"] = 1e3 * fixed["goodput_mbps"] / fixed["rtt_ms"]
print(fixed.round(2).to_string(index=False, col_space=7))
measured = fixed.set_index("window")
in_flight_kbit = 10 * 1448 * 8 / 1000
goodput_prediction.compare(
    measured.loc[10, "goodput_mbps"], theory=in_flight_kbit / by_theory(10, 10, 40)
)
rtt_prediction.compare(measured.loc[200, "rtt_ms"], theory=by_theory(200, 10, 40))

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# It is 242 ms. My model had no size for the waiting. The path holds 33 segments, so the other 167 stand in the queue, always, and each takes 1.2
# ms on the link. The round trip is the time of a whole window on the link: $200 \cdot 1514 \cdot 8 / 10^7 = 242$ ms.
#
# Rubric:
#
# - compares the number with the measured 242 ms;
# - what the path does not hold stands in the queue;
# - the time from the segments in flight and the rate.
# <!-- END SOLUTION -->

# %% [markdown] id="changed-text"
# ### Change one thing
#
# The link becomes twice as long: an RTT of 80 ms with an empty queue. Which of the six goodputs halve, and what happens to the RTT of 200 segments? Say it, then run the cell.

# %% id="changed"
changed_delay_ms = 40
longer = nl.topologies.dumbbell(2, rate_mbps=10, delay_ms=changed_delay_ms, queue_packets=200)
changed = nl.sweep({segments: with_window(segments, longer) for segments in fixed["window"]})
changed = experiments.windows_table(changed)
for before, now in zip(fixed.itertuples(), changed.itertuples()):
    print(
        f"{now.window:3} segments: {before.goodput_mbps:5.2f} and "
        f"{now.goodput_mbps:5.2f} Mbit/s, {before.rtt_ms:3.0f} and {now.rtt_ms:3.0f} ms"
    )

# %% id="near"
# Which window near the corner has the greatest power?
near = nl.sweep({segments: with_window(segments) for segments in range(28, 45)})
near = experiments.windows_table(near).set_index("window")
powers = near["goodput_mbps"] / near["rtt_ms"]
print(f"between 28 and 44 segments, {powers.idxmax()} have the greatest power")

# %% [markdown] id="fixed-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Below 33 segments the measured RTT is [[two to three milliseconds longer = bool((fixed.query("window < 33")["rtt_ms"] - 40).between(2, 3).all())]] than $T_0$: each frame takes 1.2 ms to be sent,
# and an acknowledgement often waits for a second segment, which theory leaves out. So it should be the time of two frames. Above it theory and run agree [[within 2 % = bool((fixed.query("window > 33").eval("rtt_ms / theory_ms") - 1).abs().max() < 0.02)]].
#
# The curve has a corner at the window that just fills the path. Up to it a larger window buys rate and costs no delay; beyond it a larger window buys delay and no rate. So power has its peak there (Kleinrock, 1979). Of these six windows
# [[33 = int(fixed.loc[fixed["power"].idxmax(), "window"]) | .0f]] has the greatest power. Between 28 and 44, tried one by one, it is [[35 = powers.idxmax() | .0f]]: the measured RTT begins to grow two segments later than in theory, because one segment is always being
# sent and one waits for its acknowledgement.
#
# </details>

# %% [markdown] id="aimd-text"
# ## A window that moves
#
# A sender does not know the rate and the RTT of its path. It has to find out, and to leave room for others. The oldest rule that does
# both is **AIMD**: add one segment for each RTT without loss, halve the window after a loss. Two such flows come closer with each loss that both have, because
# halving takes more from the larger one and adding gives both the same (Chiu and Jain, 1989).
#
# ### Exercise 2: AIMD
#
# Write it as a class.
#
# - `on_start(flow)`: keep the flow in the object, as `self.flow`, not in the class: two flows would share what is in the class. `flow.cwnd_segments` and `flow.ssthresh_segments` are yours to set; the latter is infinite at first.
# - `on_ack(ack)`: `ack.delivered_segments` newly arrived. Below `ssthresh_segments` grow by as many (**slow start**: it doubles the window in an RTT), else by
#   `ack.delivered_segments / flow.cwnd_segments`. Grow only where `ack.may_grow` is true: the window was used, and no recovery is under way.
# - `on_loss(loss)`: called once for each recovery. Set both to half of the window.
#
# The check runs it some seconds: alone and beside itself over a queue of one BDP, with `window_bytes`, and in slow start on a fast path. Times are the network's
# (`ack.now_s`), not your computer's. (`docs/how-to/own_control.md` has everything that the methods get.)


# %% id="aimd"
class Aimd:
    """Additive increase, multiplicative decrease."""

    # BEGIN SOLUTION
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        flow = self.flow
        if not ack.may_grow:
            return
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        else:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments

    def on_loss(self, loss):
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(2, flow.cwnd_segments / 2)

    # END SOLUTION


# %% id="aimd-check" tags=["minutes-13"]
chapter.check.aimd(Aimd)

# %% [markdown] id="landmarks-text"
# ## Landmarks
#
# Now a path whose rate moves: the trace `walk_4g`, 10 s of a walk with a mobile phone. Where do
# Linux's own controls lie? CUBIC is Linux's default; BBR goes by the rate that arrives, Vegas by delay; DCTCP by marks, of which there are none here, so it is
# another Reno. Delay is the 95th percentile of the RTT.


# %% id="landmarks"
def on_trace(trace, controls, start_s=0):
    """Run each control alone for 10 s over a link with a trace's rate from `start_s` on."""
    link = nl.Trace.named(trace)
    path = nl.topologies.dumbbell(pairs=2, rate_mbps=link, delay_ms=20, queue_packets=150)
    scenarios = {}
    for name, control in controls.items():
        flow = nl.Tcp("h1", "h3", congestion=control, start_s=start_s)
        scenarios[name] = nl.Scenario(path, [flow], duration_s=start_s + 10)
    return experiments.points_table(nl.sweep(scenarios))


linux = {name: name for name in ("cubic", "bbr", "vegas", "dctcp")}
found = on_trace("walk_4g", {**linux, "Aimd": chapter.check.aimd.take(Aimd, "reno")})
print(experiments.table(found))

# %% [markdown] id="landmarks-why"
# Which of them fill the queue, and what do they gain by it?
#
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Those that wait for a loss (CUBIC, DCTCP, AIMD) fill the queue: they get the most data through, here [[at more than twice Vegas' delay = bool(found.set_index("control").loc["cubic", "rtt95_ms"] > 2 * found.set_index("control").loc["vegas", "rtt95_ms"])]]. Vegas gives up
# a little rate, and its power is [[the greatest of Linux's four = str(found[found["control"] != "Aimd"].set_index("control")["power"].idxmax()) == "vegas"]]. (At five other moments of
# the trace Vegas has more power than CUBIC, too: see "other traces" below.) BBR lies between them, in delay and in power.
#
# </details>
#
# ### Exercise 3: something that looks at delay
#
# Write `Mine`, a control that keeps the queue short. `ack.rtt_ms` is the RTT of this acknowledgement (None without a sample), `ack.rtt_min_ms` the shortest
# so far. Which part of the window waits in the queue? By Little's law about $W\,(1 - T_\text{min}/T)$ segments. `ack.delivery_rate_mbps` is the rate that arrives, and `flow.pacing_mbps` spreads what is sent. The rule is yours.
#
# The check wants 1.5 times CUBIC's power on `walk_4g`, and 0.6 times CUBIC's goodput on each of the three traces (`train` and `crowded_wifi` are the
# others). Two flows of `Mine` on a steady link must reach a fairness index above 0.8 and keep at most 30 ms of queue. The check takes some seconds.


# %% id="mine"
class Mine:
    """A control that looks at delay."""

    # BEGIN SOLUTION
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        flow = self.flow
        if ack.rtt_ms is None:
            return
        queued = flow.cwnd_segments * (1 - ack.rtt_min_ms / ack.rtt_ms)
        if flow.cwnd_segments < flow.ssthresh_segments:
            if queued < 4:
                flow.cwnd_segments += ack.delivered_segments
                return
            flow.ssthresh_segments = flow.cwnd_segments
        step = ack.delivered_segments / flow.cwnd_segments
        flow.cwnd_segments = max(2, flow.cwnd_segments + (step if queued < 4 else -step))

    def on_loss(self, loss):
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(2, 0.8 * flow.cwnd_segments)

    # END SOLUTION


# %% id="mine-check" tags=["minutes-13"]
chapter.check.mine(Mine)

# %% id="mine-figure" tags=["figure"]
own_controls = {
    "Aimd": chapter.check.aimd.take(Aimd, "reno"),
    "Mine": chapter.check.mine.take(Mine, "vegas"),
}
both = on_trace("walk_4g", {**linux, **own_controls})
experiments.plane(both, "Yours among Linux's on walk_4g: good is right and below")

# %% [markdown] id="traces-text" tags=["optional"]
# ### Optional: other traces
#
# One run on a trace is one draw. Does the order of the controls hold on other traces, and from another moment on?

# %% id="mine-traces" tags=["optional"]
controls = {"Mine": own_controls["Mine"], "cubic": "cubic", "vegas": "vegas"}
elsewhere = {}
moments = [("train", 0), ("crowded_wifi", 0), ("crowded_wifi", 3)]
moments += [("walk_4g", start_s) for start_s in (1, 3, 5, 7, 9)]
for trace, start_s in moments:
    points = on_trace(trace, controls, start_s)
    elsewhere[trace, start_s] = points.set_index("control")
    print(f"{trace}, from {start_s} s on")
    print(experiments.table(points))

# %% [markdown] id="traces-why" tags=["optional"]
# On `crowded_wifi` Vegas waits [[longer than CUBIC = bool(elsewhere["crowded_wifi", 0]["rtt95_ms"]["vegas"] > elsewhere["crowded_wifi", 0]["rtt95_ms"]["cubic"])]]; begun 3 s later,
# [[less than half as long = bool(elsewhere["crowded_wifi", 3]["rtt95_ms"]["vegas"] < elsewhere["crowded_wifi", 3]["rtt95_ms"]["cubic"] / 2)]]. On `walk_4g` Vegas has [[more power than CUBIC at all five moments = all(elsewhere["walk_4g", start_s]["power"]["vegas"] > elsewhere["walk_4g", start_s]["power"]["cubic"] for start_s in (1, 3, 5, 7, 9))]].

# %% [markdown] id="repeated-text"
# ## Is it better?
#
# On a link that loses 1 % of its packets at random, luck decides much. `side_by_side(Aimd, Mine)` has two such links
# beside each other: `h1` sends over one with `Aimd`, `h2` over the other with `Mine`, each alone, for 5 s.
#
# ### Exercise 4: show it
#
# A colleague says: "`Mine` has more than [[stated_times]] times the power of `Aimd` there." For each seed, divide the power of `Mine` (`goodput_mbps / rtt_ms` of `h2`) by the power of `Aimd` (`h1`).
# Show with an interval of these ratios whether he is right.


# %% id="repeated-scenario"
def side_by_side(first, second):
    """Two equal lossy links; `first` controls the flow over one, `second` over the other."""
    slow = {"rate_mbps": 10, "delay_ms": 20, "queue_packets": 200, "loss_rate": 0.01}
    access = [nl.Link("h1", "r1"), nl.Link("h2", "r2")]
    lossy = [nl.Link("r1", "h3", **slow), nl.Link("r2", "h4", **slow)]
    two_paths = nl.Topology(["h1", "h2", "h3", "h4"], ["r1", "r2"], links=[*access, *lossy])
    flows = [nl.Tcp("h1", "h3", congestion=first), nl.Tcp("h2", "h4", congestion=second)]
    return nl.Scenario(two_paths, flows, duration_s=5)


# %% id="repeated"
# Take 8 to 30 seeds in a row. my_refutation: a condition on the edges of an interval, such
# as "low > 1 and high < 2": for which intervals is the statement refuted?
# my_verdict is "supported", "refuted" or "undecided".
my_table = my_interval = my_refutation = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
my_refutation = f"high < {own.stated_times}"
my_table = nl.repeat(side_by_side(Aimd, Mine), seeds=10)
my_powers = my_table.copy()
my_powers["power"] = my_powers["goodput_mbps"] / my_powers["rtt_ms"]
my_wide = my_powers.pivot_table(index="seed", columns="src", values="power")
my_ratios = my_wide["h2"] / my_wide["h1"]
my_interval = nl.interval(my_ratios)
mean, half = my_interval
if mean - half > own.stated_times:
    my_verdict = "supported"
elif mean + half < own.stated_times:
    my_verdict = "refuted"
else:
    my_verdict = "undecided"
# END SOLUTION
my_finding = [my_table, my_interval, my_refutation, my_verdict]

# %% id="repeated-check" tags=["minutes-8"]
chapter.check.repeated(my_finding)

# %% [markdown] id="beside-text"
# ## Where it fails
#
# A control shares links with others. Here are ten seconds of `Mine` beside CUBIC, on the steady link with its deep queue.

# %% id="beside" tags=["figure"]
two_flows = [nl.Tcp("h1", "h3", congestion=own_controls["Mine"]), nl.Tcp("h2", "h4")]
beside = nl.run(steady, two_flows, duration_s=10)
nl.plots.time_series(
    beside,
    ("cwnd_segments",),
    interfaces=(),
    title="A control that looks at delay, beside CUBIC",
)

# %% [markdown] id="fails-words"
# ### Exercise 5: say where it fails
#
# Where does your control do worse than CUBIC, and why? Use the figure above and one more run or thought of your own. Four or five sentences.
#
# <!-- BEGIN SOLUTION -->
# Beside CUBIC mine starves: CUBIC fills the queue until it overflows, my control sees the delay, takes it for its own and shrinks. On the steady link it gets
# [[less than a third of what CUBIC gets = bool(beside.flows["goodput_mbps"].iloc[0] < beside.flows["goodput_mbps"].iloc[1] / 3)]]. It also fails where the shortest RTT is wrong: a flow that begins while another one's queue is there takes that queue for the path and adds
# its own to it. And when the path gets longer, as after a change of route, everything looks like a queue. After slow start CUBIC looks at losses alone and has none of these problems; it pays with a full queue.
#
# Rubric:
#
# - names a network or a neighbour where it does worse, with a number from a run;
# - explains it by the signal that the control goes by: a delay that others make, or a shortest RTT that is wrong;
# - says what CUBIC does there, and what that costs.
# <!-- END SOLUTION -->

# %% [markdown] id="summary"
# ## Summary
#
# A window below the bandwidth-delay product wastes rate, a window above it makes delay. Power has its peak between them, at the product itself. Controls that wait for losses fill any queue;
# controls that look at delay can keep it short, and starve beside the others. "This one is better" needs an interval, and
# it holds for the networks and neighbours that were tried.

# %% [markdown] id="longer-text"
# ## Optional: two frames longer
#
# Is the RTT of a small window longer by the time of two frames? A frame of 1.2 ms at 10 Mbit/s takes 2.4 ms at 5 and 0.6 ms at 20. How much longer will it be there?

# %% id="longer"
longer_ms = {}
for rate_mbps in (5, 20):
    other_link = nl.topologies.dumbbell(
        pairs=2, rate_mbps=rate_mbps, delay_ms=20, queue_packets=200
    )
    longer_run = nl.run(with_window(10, other_link))
    longer_ms[rate_mbps] = longer_run.intervals.query("t_s > 1")["rtt_ms"].mean() - 40
    print(f"{rate_mbps} Mbit/s: {longer_ms[rate_mbps]:.1f} ms longer")

# %% [markdown] id="rtt-text"
# It is [[5.0 = longer_ms[5] | .1f]] ms at 5 Mbit/s and [[1.2 = longer_ms[20] | .1f]] ms at 20.
#
# ## Optional: the best window of your link
#
# An optional exercise, with no points. Your link has [[rate_mbps]] Mbit/s and an RTT of [[base_rtt_ms]] ms with an empty queue. Which fixed window has the greatest power? You may run five
# windows at most, so think first. Build your network (`delay_ms` is half of the RTT), and look at `experiments.windows_table({20: nl.run(with_window(20, your_network))})`. Tolerance: [[tolerance]].

# %% id="best"
best_window = own.rate_mbps * own.base_rtt_ms * 1000 / 8 / 1514  # SOLUTION

# %% id="best-check"
chapter.check.best(best_window)

# %% [markdown] id="contest-text"
# ## Optional: the contest
#
# `netlab contest` lets the classes of a course compete on unknown networks: rates that wander and jump, losses, deep queues, CUBIC, a second flow of the same class. Hand in this
# notebook, or a file with one class; the last class with such methods is taken. `docs/how-to/contest.md` has the score.

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# One flow with a fixed window. Find the corner; then change the rate or the RTT: where does it go? A window of 200 on a path of 10 ms: what does power say?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="published"
# ## Optional: what was published
#
# Pantheon (Yan and others, USENIX ATC 2018) drew controls in this plane over paths in the real Internet, delay as the 95th percentile, as here. Its
# authors found that no control was the best on all paths. Our three opponents of the contest show the same on seven small networks. Their results cannot be compared with ours number by number:
# their paths were real, and a program made ours.

# %% [markdown] id="open"
# ## Open exercises
#
# - Let `Mine` notice that somebody else fills the queue, and compete there (Copa has such a mode).
# - Set `flow.pacing_mbps`. What does it change in slow start over a short queue?
# - Which part of a window is lost when the trace's rate falls to a tenth? Who recovers first, and why?
# - **Challenge.** Beat CUBIC's power on all three traces and its share beside CUBIC, with one class.
#
# ### Reading
#
# - L. Kleinrock, Power and deterministic rules of thumb for probabilistic problems in computer communications, ICC 1979.
# - D. Chiu and R. Jain, Analysis of the increase and decrease algorithms for congestion avoidance in computer networks, Computer Networks and ISDN Systems 17, 1989.
# - L. Brakmo and L. Peterson, TCP Vegas: end to end congestion avoidance on a global Internet, IEEE JSAC 13(8), 1995.
# - F. Yan and others, Pantheon: the training ground for Internet congestion-control research, USENIX ATC 2018.
# - V. Arun and H. Balakrishnan, Copa: practical delay-based congestion control for the Internet, NSDI 2018.
# - M. Mathis, N. Cardwell, Y. Cheng and N. Dukkipati, Proportional rate reduction for TCP, RFC 9937, 2025: what Linux does with your window during a recovery. (It replaces RFC 6937.)
#
# ## Limits
#
# Time was virtual: a slow class costs no network time, as in a real host it would. A program made the traces. Runs of 10 s are short, and include slow start.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = beside.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
