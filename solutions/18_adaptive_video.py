# %% [markdown] id="title"
# # Adaptive video
#
# **How good can five minutes of video be on a train?**
#
# A player has a few seconds of video in its buffer and asks for the next four. In which quality? Too high, and the picture stands still;
# too low, and it is needlessly blurred. You write the rule, and Linux's TCP fetches each chunk that it chooses.
#
# After this chapter you can
#
# 1. compute how long a picture stands still when the rate falls, and say which rules risk it;
# 2. write a rule for the quality, and measure it on mobile traces in a closed loop;
# 3. show with an interval that one rule is better than another, and say what would refute it.
#
# *Time*: [[minutes]] minutes. *Builds on*: Short flows; How sure?. *Runs on*: any machine on which the next cell says "Ready" with the
# library kernel.

# %% id="imports" tags=["nbval-ignore-output"]
import netlab as nl
from netlab_course.chapters import adaptive_video
from netlab_course.chapters.adaptive_video import experiments
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player

chapter = adaptive_video.begin()
own = chapter.own
mobile = chapter.settings.mobile
print(nl.preflight())

# %% [markdown] id="predict-text"
# ## Predict
#
# A train: the rate of its link has a mean of [[3.5 = mobile().mean_mbps() | .1f]] Mbit/s and goes from 0.5 to 12. The video exists at 0.6, 1.2, 2.4, 4.8 and 9.6 Mbit/s. The player
# takes the highest rate that is not above the throughput of the chunk before. Write down two numbers, and your reason for the second one in a sentence. The
# numbers are not graded.
#
# - What is the mean quality over five minutes, in Mbit/s?
# - For how many seconds does the picture stand still?

# %% id="predict"
my_quality_mbps = 3  # SOLUTION
my_stall_s = 1  # SOLUTION
my_reason = ...
# BEGIN SOLUTION NO PROMPT
my_reason = "20 s of video in the buffer last longer than the link is slow."
# END SOLUTION

quality_prediction = nl.checks.predict(
    "mean quality", my_quality_mbps, "Mbit/s", low=0.6, high=9.6
)
stall_prediction = nl.checks.predict(
    "stalls", my_stall_s, "s", low=0, high=300, reason=my_reason
)

# %% [markdown] id="network-text"
# ## The network
#
# A server, a router, and a phone whose link follows the trace. The round trip takes 40 ms.


# %% id="network" tags=["figure"]
def path(rate_mbps):
    """The server and the phone; the phone's link has this rate, a number or a trace."""
    last_mile = nl.Link("r1", "phone", rate_mbps=rate_mbps, delay_ms=10, queue_packets=150)
    near = nl.Link("server", "r1", delay_ms=10)
    return nl.Topology(["server", "phone"], ["r1"], links=[near, last_mile])


train = mobile("train")  # 120 s, repeated; a quarter of netlab's trace, as means of 2 s
nl.plots.topology(path(train), title="The phone's link follows the trace")

# %% [markdown] id="symbols"
# | symbol | in the code | unit | meaning |
# |---|---|---|---|
# | $B$ | `buffer_s` | s | video in the buffer, at most 20 s |
# | $q$ | `quality` | | the place of a rate in `LADDER_MBPS`, from 0 to 4 |
# | $R_q$ | `LADDER_MBPS[quality]` | Mbit/s ($10^6$ bit/s) | rate of the video |
# | $C$ | `rate_mbps` | Mbit/s | rate at which data arrives |
# | $L$ | | s | length of a chunk: 4 s |
#
# A chunk of quality $q$ has $L R_q$ Mbit and takes $L R_q / C$ seconds. If it takes longer than $L$, the buffer shrinks by the difference. So over a long time
# no rule that does not stall has a mean quality above the mean of $C$; a buffer only moves data from good seconds to bad ones, at most 20 of them.
#
# ### A rule and the loop
#
# A rule is a class with one method. It gets the buffer, the throughput of the chunk before (0 before the first) and the sizes in bytes of the next chunk. `Player` has
# the buffer; read its code with `Player??`. It sends nothing: the loop below does.


# %% id="loop"
class Throughput:
    """The highest quality whose rate is not above the throughput of the chunk before."""

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        return max(
            [q for q, rate in enumerate(LADDER_MBPS) if rate <= throughput_mbps], default=0
        )


def watch(rule, rate_mbps, chunks=75, seed=1):
    """Play a video; a network that waits lets the rule decide between two chunks."""
    video = Player(rule, chunks)
    with nl.live(path(rate_mbps), seed=seed, engine="library") as lab:
        while not video.is_done:
            lab.advance(video.wait_s)  # until the next chunk fits into the buffer
            chunk = nl.Tcp("server", "phone", num_bytes=video.ask(lab.now_s))
            video.arrive(lab.advance_until(lab.start(chunk), limit_s=1000))
    return video


# %% id="first" tags=["figure"]
videos = {"Throughput": watch(Throughput, train)}
experiments.video_figure(videos, train, "Five minutes on the train")

# %% id="first-table"
print(experiments.table(videos))
first = experiments.videos_table(videos).iloc[0]
quality_prediction.compare(first["quality_mbps"])
bound_mbps = nl.theory.tcp_goodput_limit_mbps(train.mean_mbps())
print(f"without stalls at most {bound_mbps:.2f} Mbit/s over a long time")
stall_prediction.compare(first["stall_s"])

# %% [markdown] id="prediction-words" tags=["minutes-4"]
# ### What did your model lack?
#
# Your prediction, your reason and the measurement are above. Was the number right, and for the right reason? If not, what did your model leave out? Two or three
# sentences, with a number from above.
# <!-- BEGIN SOLUTION -->
# It stands still for 7.5 s. I counted how long the link is slow, but a chunk in the wrong quality makes its own slowness: one that was chosen
# at 4.8 Mbit/s has 19 Mbit, and at 0.5 Mbit/s it takes 38 s, longer than any buffer of 20 s. The rule looks at the past chunk alone, so it
# finds out only when this one has arrived.
#
# Rubric:
#
# - compares the number with the measured 7.5 s;
# - a chunk is chosen by the rate of the past, and arrives at the rate of now;
# - its time from its size and the low rate, longer than what the buffer holds.
# <!-- END SOLUTION -->

# %% [markdown] id="first-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have written yours.)</summary>
#
# The mean rate at which data arrives is a bound for rules that do not stall, not a forecast: between a chunk and the next the rate changes, and the rule rounds down to the ladder. The picture stood still for
# [[7.5 = first["stall_s"] | .1f]] s: a chunk that was chosen while the rate was high arrived while it was low.
#
# </details>
#
# ## When the rate falls
#
# ### Exercise 1: the stall
#
# When the rate falls to $C$, `left_mbit` of a chunk are missing and the buffer holds `buffer_s`. How long does the picture stand still? A worked
# number: [[worked_mbit]] Mbit at [[worked_rate_mbps]] Mbit/s with 10 s in the buffer give [[worked_s:.4g]] s. Tolerance: [[tolerance]].


# %% id="stall"
def stall_s(left_mbit, rate_mbps, buffer_s):
    """Return how long the picture stands still, in s."""
    # BEGIN SOLUTION
    return max(0, left_mbit / rate_mbps - buffer_s)
    # END SOLUTION


# %% id="stall-check" tags=["minutes-5"]
chapter.check.stall(stall_s)

# %% [markdown] id="fall-text"
# ### Run it
#
# 12 Mbit/s for a minute, then less. The first run has no fall; it shows what was in the buffer and on its way after a minute.

# %% id="fall" tags=["figure"]
steady = watch(Throughput, 12, chunks=20)
before = [chunk for chunk in steady.history if chunk.asked_s < 60][-1]
left_mbit = LADDER_MBPS[before.quality] * 4 - 12 * 1448 / 1514 * (60 - before.asked_s)
buffer_s = before.buffer_s - (60 - before.asked_s)
print(f"after 60 s: {left_mbit:.1f} Mbit missing, {buffer_s:.1f} s in the buffer")
rates_mbps = [0.5, 0.7, 1, 1.4, 2, 3]
falls = [nl.Trace([(0, 12), (60, rate)], duration_s=1000) for rate in rates_mbps]
number = steady.history.index(before)
stalls_s = [watch(Throughput, fall, chunks=number + 1).stall_s for fall in falls]
theory_s = [max(0, left_mbit / (rate * 1448 / 1514) - buffer_s) for rate in rates_mbps]
experiments.stall_figure(rates_mbps, stalls_s, left_mbit, buffer_s)

# %% [markdown] id="fall-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have written yours.)</summary>
#
# The stalls are longer by the time that another [[1 to 1.6 Mbit = all(1 < (got - said) * rate * 1448 / 1514 < 1.6 for got, said, rate in zip(stalls_s, theory_s, rates_mbps) if said)]] take, at every rate: a chunk begins with a handshake and slow start, 0.1 s in which the formula counts 12 Mbit/s.
# (At low rates a second stall follows, not counted here: the throughput of that chunk is still too high a forecast.)
#
# </details>

# %% [markdown] id="fall-words" tags=["minutes-6"]
# ### Exercise 2: explain it
#
# Which falls of the rate does the rule `Throughput` survive, and why does it not help that it looks at each chunk? What would a rule have to know? Three or four
# sentences.
#
# <!-- BEGIN SOLUTION -->
# It survives a fall if the rest of the chunk that is on its way arrives before the buffer is empty: `left_mbit / rate` below the buffer. The rule decides only between chunks,
# so it learns of the fall when the chunk has arrived, which is when the stall is over. After that its quality fits the new rate. It would have to know the future,
# or keep the next chunk so small that the buffer lasts even at a low rate: look at the buffer, too.
#
# Rubric:
#
# - compares the time of the missing rest with the buffer;
# - says that a throughput is known only when the chunk has arrived, too late;
# - names the buffer, or a margin, as what limits the risk.
# <!-- END SOLUTION -->

# %% [markdown] id="buffer-text"
# ## A rule by the buffer alone
#
# Huang and others (2014) let the buffer decide alone: below a *reservoir* of 5 s the lowest rate, above 15 s the highest, and between them a straight line in
# Mbit/s. The rule takes the highest rate of the ladder that is not above the line. (Theirs, BBA-0, also keeps a rate for a while; see "Change one thing".)
#
# ### Exercise 3: the map
#
# Write the function: buffer in, quality (its place, from 0) out.


# %% id="buffer"
def buffer_quality(buffer_s):
    """The quality, from 0 to 4, for so many seconds in the buffer."""
    # BEGIN SOLUTION
    part = min(1, max(0, (buffer_s - 5) / 10))
    line_mbps = LADDER_MBPS[0] + part * (LADDER_MBPS[-1] - LADDER_MBPS[0])
    return max(q for q, rate in enumerate(LADDER_MBPS) if rate <= line_mbps + 1e-9)
    # END SOLUTION


# %% id="buffer-check" tags=["minutes-6"]
chapter.check.buffer(buffer_quality)

# %% id="both" tags=["figure"]
quality_of = chapter.check.buffer.take(buffer_quality, chapter.settings.buffer_quality)


class Buffer:
    """The quality that the buffer allows."""

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        return quality_of(buffer_s)


videos["Buffer"] = watch(Buffer, train)
experiments.video_figure(videos, train, "Two rules on the train")

# %% [markdown] id="score-text"
# ### Which is better?
#
# Yin and others (2015) give one number, the *quality of experience*: the mean rate of the chunks, less the mean change (its size) from one chunk to the next, less 9.6 Mbit/s for each
# second of stall; all three sums are divided by the number of chunks. For comparison, three rules that decide nothing; which of them fits is known only when the video is over.


# %% id="both-table"
class Always:
    """The same quality for each chunk."""

    def __init__(self, quality):
        self.quality = quality

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        return self.quality


for quality in (1, 2, 3):
    videos[f"always {LADDER_MBPS[quality]}"] = watch(Always(quality), train)
print(experiments.table(videos))

# %% [markdown] id="beginnings-text"
# One beginning is one draw. Here are six:

# %% id="beginnings"
several = {}
for begin_s in range(0, 120, 20):
    for rule in (Throughput, Buffer):
        part = mobile("train", begin_s=begin_s)
        several[f"{rule.__name__} from {begin_s} s"] = watch(rule, part)
print(experiments.table(several))

# %% [markdown] id="measure-words" tags=["minutes-7"]
# ### Exercise 4: what the measure rewards
#
# `Buffer` looks at the very thing that must not run out. Why does it mostly stand still for longer than `Throughput` all the same? And why does a constant 2.4 Mbit/s have a better
# experience than both: take the three sums apart. How long must a visit to 4.8 Mbit/s last to pay? Four or five sentences.
#
# <!-- BEGIN SOLUTION -->
# When the buffer is full, `Buffer` takes 9.6 Mbit/s whatever the link carries: 38 Mbit, which take 19 s at 2 Mbit/s, and 16 s are in the buffer. It reaches a higher quality, and pays for it in
# stalls. The constant has the lowest mean quality of the three, but no change and no stall: one second of stall costs 9.6, as much as four chunks of 2.4 bring, and the two changes of a visit
# to 4.8 cost 4.8, which two chunks there bring. So a visit pays from the third chunk on. The measure rewards calm. Besides, 2.4 was chosen when the
# video was over; 4.8 is far too much.
#
# Rubric:
#
# - a full buffer says nothing of the rate of the next seconds: a large chunk takes longer than the buffer lasts;
# - the cost of changes and of stalls, in numbers, against the gain in quality;
# - more than two chunks for a visit to pay;
# - the constant that fits is known only afterwards.
# <!-- END SOLUTION -->

# %% [markdown] id="change-text"
# ### Change one thing
#
# BBA-0 keeps a rate until the line reaches the next one above or below it (*hysteresis*). What becomes of the switches, and of the stalls? Say first what you expect, and run. Then try another
# beginning, trace (`"walk_4g"`, `"crowded_wifi"`) or scale.


# %% id="change"
class Hysteresis:
    """The rule of Huang and others, BBA-0."""

    def __init__(self):
        self.quality = 0

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        highest = quality_of(buffer_s)  # not above the line
        if buffer_s <= 5 or highest > self.quality:
            self.quality = highest
        elif highest + 1 < self.quality:  # the line has reached the next rate below
            self.quality = highest + 1
        return self.quality


elsewhere = mobile("train", scale=0.25, begin_s=0)
tried = {rule.__name__: watch(rule, elsewhere) for rule in (Buffer, Hysteresis)}
print(experiments.table(tried))

# %% [markdown] id="short-text"
# ## What a short chunk measures
#
# A steady link of 20 Mbit/s, and the chunks of one open connection: at once one after the other, or with pauses as a full buffer makes them.

# %% id="short"
measured_mbps = {}
for pause_s in (0, 3):
    chunks = nl.Requests("phone", "server", response_bytes=300_000, count=6, think_s=pause_s)
    run = nl.run(path(20), [chunks], duration_s=30)
    measured_mbps[pause_s] = (300_000 * 8e-6 / run.requests["completion_s"]).round(1).tolist()
    print(f"pause of {pause_s} s: {measured_mbps[pause_s]} Mbit/s")

# %% [markdown] id="short-why"
# <details><summary><b>Why do they differ?</b> (Open it when you have an answer of your own.)</summary>
#
# Without pauses the window of the connection stays open: the last chunk has [[14.5 = measured_mbps[0][-1] | .1f]] Mbit/s. It is less than the [[19.1 = nl.theory.tcp_goodput_limit_mbps(20) | .1f]] that a full link carries, because a chunk is asked for when
# the one before is there: [[40 of 165 ms = abs(2400 / measured_mbps[0][-1] - 165) < 1.5 and abs(2400 / nl.theory.tcp_goodput_limit_mbps(20) + 40 - 165) < 1.5]] are the round trip of the request. After a pause of 3 s Linux begins in slow start again
# ([[9.8 = measured_mbps[3][-1] | .1f]] Mbit/s): the window of an idle connection is from another time. A player whose buffer is full pauses before each chunk, and measures less than the path
# carries.
#
# </details>
#
# ### Exercise 5: the throughput of a chunk
#
# A chunk of [[chunk_kb]] kB on a new connection, over an empty path of [[path_mbps]] Mbit/s and 40 ms: which throughput does the player measure, in Mbit/s? The clock runs from the SYN to the last byte at the phone; the window begins at
# ten segments, each with 1448 bytes of data and 1514 on the wire. Draw the round trips and add up their times: what arrives in each, and from which on does the link no longer pause? Tolerance: [[tolerance]].

# %% id="throughput"
chunk_mbps = ...
# BEGIN SOLUTION NO PROMPT
segment_ms = 1514 * 8e-3 / own.path_mbps
chunk_ms, left, window = 40, own.chunk_kb * 1000 / 1448, 10
while window * segment_ms < 40:  # the link waits for acknowledgements
    chunk_ms, left, window = chunk_ms + 40, left - window, 2 * window
chunk_ms += left * segment_ms + 20
chunk_mbps = own.chunk_kb * 8 / chunk_ms
# END SOLUTION

# %% id="throughput-check" tags=["minutes-7"]
chapter.check.throughput(chunk_mbps)

# %% id="throughput-run"
with nl.live(path(own.path_mbps), engine="library") as lab:
    flow = lab.start(nl.Tcp("server", "phone", num_bytes=own.chunk_kb * 1000))
    alone_mbps = own.chunk_kb * 8e-3 / lab.advance_until(flow)
theory_ms = nl.theory.short_flow_ms(own.chunk_kb * 1000, own.path_mbps, 40)
print(f"measured: {alone_mbps:.2f} Mbit/s, theory: {own.chunk_kb * 8 / theory_ms:.2f} Mbit/s")

# %% [markdown] id="mine-text"
# ## Your rule
#
# ### Exercise 6: better than a constant
#
# Write `Mine`. Your train is `mobile("train", scale=`[[scale]]`, begin_s=`[[begin_s]]`)`. Its quality of experience must exceed that of `Throughput`, of `Buffer` and of each constant quality there, and on a walk
# (`mobile("walk_4g", scale=0.3)`), because a rule that fits one trace is no rule. It may keep what it has seen in `self`. The check plays two videos of your rule and takes some seconds.


# %% id="mine"
class Mine:
    """A rule that looks at the buffer and at the throughput."""

    # BEGIN SOLUTION
    def __init__(self):
        self.quality = 0

    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        if not throughput_mbps:
            return self.quality
        takes_s = sizes[self.quality] * 8e-6 / throughput_mbps
        if takes_s > buffer_s - 6:  # less than 6 s would be left
            self.quality = max(0, self.quality - 1)
        # Never the highest: a visit to it costs two changes of 4.8 Mbit/s.
        elif self.quality < 3 and buffer_s >= 10:
            if LADDER_MBPS[self.quality + 1] <= 1.3 * throughput_mbps:
                self.quality += 1
        return self.quality

    # END SOLUTION


# %% id="mine-check" tags=["minutes-14"]
chapter.check.mine(Mine)

# %% id="mine-table" tags=["figure"]
my_train = mobile("train", scale=own.scale, begin_s=own.begin_s)
mine = chapter.check.mine.take(Mine, Buffer)
three = {rule.__name__: watch(rule, my_train) for rule in (Throughput, Buffer, mine)}
constant = {f"always {LADDER_MBPS[q]}": watch(Always(q), my_train) for q in (2, 3)}
print(experiments.table({**three, **constant}))
experiments.video_figure(three, my_train, "Three rules on your train")

# %% [markdown] id="summary"
# ## Summary
#
# A rule by throughput knows the rate when the chunk is there, and stalls if the rate falls faster than the buffer lasts. A rule by the buffer needs no estimate; on the train it reaches a higher quality and mostly
# stalls longer, because a full buffer asks for a large chunk whatever the rate is. Both change the quality at about every second chunk, and the measure rewards calm: on the train a constant rate that fits is mostly better than both, but it is known only afterwards. A rule that uses both, one step at a time,
# was better still on the traces tried. What a player measures depends on what it asked for: short chunks after pauses begin in slow start and measure less than the path carries.

# %% [markdown] id="shown-text"
# ## Optional: show it
#
# An optional exercise, with no points. One trace from one beginning is one draw. Choose 8 to 30 beginnings (even seconds below 120, at equal distances) of your train, and play 30 chunks from each with `Mine` and with `Throughput`. `differences` is the experience of
# `Mine` minus the experience of `Throughput`, for each (the check plays them all again). Is 0 `"above"`, `"inside"` or `"below"` the interval?

# %% id="shown"
begins_s = differences = my_interval = my_verdict = ...
# BEGIN SOLUTION NO PROMPT
begins_s = list(range(0, 112, 14))
differences = []
for begin_s in begins_s:
    part = mobile("train", scale=own.scale, begin_s=begin_s)
    with_mine, bar = watch(Mine, part, 30), watch(Throughput, part, 30)
    differences.append(with_mine.experience_mbps - bar.experience_mbps)
my_interval = nl.interval(differences)
mean, half = my_interval
my_verdict = "above" if mean + half < 0 else "below" if mean - half > 0 else "inside"
# END SOLUTION
finding = {
    "rule": Mine,
    "begins_s": begins_s,
    "differences": differences,
    "interval": my_interval,
    "verdict": my_verdict,
}

# %% id="shown-check" tags=["minutes-8"]
chapter.check.shown(finding)

# %% [markdown] id="refute-words" tags=["minutes-5"]
# ### What would refute it
#
# Which measurement would show that your finding is wrong, or does not hold elsewhere? Name the trace or the change, and the result that would make you give it up. Two or three sentences.
#
# <!-- BEGIN SOLUTION -->
# The beginnings are of one trace, so the parts overlap and their differences are not independent: the interval is too short. I would take other traces, such as crowded Wi-Fi with
# outages, with at least eight beginnings, and give the finding up if 0 were inside or above the interval there. A larger cost of switches or a video with one chunk per second could also turn it.
#
# Rubric:
#
# - names a measurement that could go either way;
# - names the result that would refute the finding;
# - sees that beginnings of one trace are not independent, or that other traces differ.
# <!-- END SOLUTION -->

# %% [markdown] id="experience-text"
# ## Optional: the quality of experience
#
# An optional exercise, with no points. Write the function of "Which is better?". Chunks of 2.4, 2.4 and 1.2 Mbit/s with a stall of 0.3 s have 0.64 Mbit/s. Tolerance: [[tolerance]].


# %% id="experience"
def experience_mbps(qualities_mbps, stall_s):
    """The quality of experience in Mbit/s, of the rate of each chunk and the sum of stalls."""
    # BEGIN SOLUTION
    changes = sum(abs(b - a) for a, b in zip(qualities_mbps, qualities_mbps[1:]))
    return (sum(qualities_mbps) - changes - 9.6 * stall_s) / len(qualities_mbps)
    # END SOLUTION


# %% id="experience-check"
chapter.check.experience(experience_mbps)

# %% [markdown] id="panel-text"
# ## Optional: explore
#
# One chunk after a pause over a steady link. From which pause on does slow start begin again? From which size on does it no longer matter?

# %% id="panel" tags=["nbval-ignore-output", "figure"]
chapter.panel()

# %% [markdown] id="open"
# ## Open exercises
#
# - On the page's train (scale 0.25) the rule of the solution is worse than a constant 2.4 Mbit/s from three of the six beginnings above. Is yours better?
# - Two phones share the link, each with a player. Who gets what, and do both become calm? (Festive has this problem.)
# - Give `nl.Tcp` the congestion control BBR. Does the rule `Throughput` become better?
# - A live stream may have 4 s in its buffer, no more. Which rule is left?
# - `netlab contest --game videos` lets the rules of a course play videos over unknown traces. Hand in this notebook, or your class as a file.
# - **Challenge.** MPC (Yin and others): try all qualities of the next five chunks against a forecast, and take the best. Does it beat `Mine` on all three traces?
#
# ### Reading
#
# - T.-Y. Huang and others, A buffer-based approach to rate adaptation: evidence from a large video streaming service, SIGCOMM 2014.
# - X. Yin and others, A control-theoretic approach for dynamic adaptive video streaming over HTTP, SIGCOMM 2015.
# - T.-Y. Huang and others, Confused, timid, and unstable: picking a video streaming rate is hard, IMC 2012: pauses and what they do to estimates.
# - J. Jiang and others, Improving fairness, efficiency, and stability in HTTP-based adaptive video streaming with FESTIVE, CoNEXT 2012.
# - RFC 5681, section 4.1: restarting idle connections.
#
# ## Limits
#
# Each chunk has a connection of its own, one round trip and a slow start more than on an open one (after a pause the open one has the slow start, too). All chunks of a quality are of the same size. A request itself takes no time.
# A program made the traces, and they were scaled. Quality is taken as the rate; eyes do not.
#
# ## Versions and seed

# %% id="versions" tags=["nbval-ignore-output"]
settings = run.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
