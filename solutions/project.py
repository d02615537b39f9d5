# %% [markdown] id="title"
# # A project of your own
#
# You ask a question about networks, predict the answer, measure it, and say how sure you are. `how_to_project.ipynb` is a whole project
# to look at. Yours has the same six parts. A person reads it; no cell is checked.
#
# | part | points | full points when |
# |---|---|---|
# | question | 2 | it has one answer, and somebody would act on it |
# | prediction | 3 | a number or an order, with its formula or reason, written before the first run |
# | experiment | 4 | it can be run again; one thing differs between the runs that are compared; the start is left out, or is what is asked about |
# | intervals | 4 | the seed changes something that matters; five seeds or more; intervals where a claim rests on a difference |
# | figure | 3 | axes with units; prediction and measurement in one figure; what the figure shows is said in two sentences |
# | limits | 4 | where the prediction failed and why (shown, cited, or called a guess); what the set-up cannot show |
#
# ## Six questions, if you have none
#
# - **How much queue do many flows need?** Take the worked project further: CUBIC instead of Reno, flows with the same RTT, or short
#   flows among the long ones.
# - **BBR beside CUBIC.** Which share does one BBR flow get beside one, three and nine CUBIC flows, with a short and with a long queue?
# - **Incast.** Many servers answer one client at once through one switch port. From which number of servers on does the last answer wait for a
#   retransmission timer?
# - **Adaptive video.** A player asks for chunks of 4 s at one of five rates (`nl.Tcp(num_bytes=...)`) over `nl.Trace.named("walk_4g")`. Which rule of
#   choosing the rate stalls least, and what does it cost in quality?
# - **Initial windows.** What do first windows of 3, 10 and 30 segments (`nl.Tcp(initial_window_segments=...)`) do to the completion times of
#   10 kB, 100 kB and 1 MB, and to a call beside them?
# - **A queue discipline on your own trace.** Record or draw the rate of your own line (`nl.Trace`). How much waiting do `fq_codel` and `cake` save a call beside a
#   download, compared with drop-tail, and what does the download pay?

# %% id="imports" tags=["nbval-ignore-output"]
import pandas as pd

import netlab as nl
from netlab_course.chapters import unsupported

unsupported.install_handler()  # a cell that cannot run here says so, and the page goes on
print(nl.preflight())

# %% [markdown] id="question-words"
# ## 1. The question
#
# One sentence that ends with a question mark. Then: who would act differently if the answer were another one?
#
# <!-- BEGIN SOLUTION -->
# The worked project (`how_to_project.ipynb`) asks whether a rule that was measured with hundreds of flows holds for the 4 or 16 of a home.
#
# Rubric, 2 points:
#
# - one question with one answer, which an experiment can decide (1);
# - somebody would act on it, and it says who (1).
# <!-- END SOLUTION -->

# %% [markdown] id="prediction-words"
# ## 2. The prediction
#
# A number or an order, and the formula or the reason. Write it before you run anything; a wrong prediction costs no points.
#
# <!-- BEGIN SOLUTION -->
# The worked project computes the paper's bound, and says where it expects it to fail.
#
# Rubric, 3 points:
#
# - a number or an order that the runs can contradict (1);
# - the formula with its source, or the reason (1);
# - when it should hold and when not (1).
# <!-- END SOLUTION -->

# %% [markdown] id="experiment-words"
# ## 3. The experiment
#
# The network, the traffic, what you measure, and what differs between runs that you compare. Below is a small experiment to begin with: change it into yours.
#
# <!-- BEGIN SOLUTION -->
# The worked project draws the starts from the seed, leaves slow start out, and changes only the room in the queue.
#
# Rubric, 4 points:
#
# - the cells run from top to bottom and give what the text says (1);
# - what is measured answers the question, and its unit is said (1);
# - one thing differs between the runs that are compared (1);
# - warm-up and duration are chosen and the choice is explained (1).
# <!-- END SOLUTION -->


# %% id="experiment"
def scenario(queue_packets):
    network = nl.topologies.dumbbell(
        pairs=1, rate_mbps=10, delay_ms=20, queue_packets=queue_packets
    )
    return nl.Scenario(network, [nl.Tcp("h1", "h2", congestion="cubic")], duration_s=10)


runs = nl.sweep({queue_packets: scenario(queue_packets) for queue_packets in (10, 40)})

# %% [markdown] id="intervals-words"
# ## 4. The intervals
#
# What does the seed change in your experiment? How wide are the intervals, and which of your claims do they carry?
#
# <!-- BEGIN SOLUTION -->
# In the worked project the seed decides when flows start; without that, all seeds would give one and the same run.
#
# Rubric, 4 points:
#
# - says what the seed changes, or makes it change something that matters (1);
# - five seeds or more for each case (1);
# - intervals of the right thing: of the difference, where a claim is about a difference (1);
# - no claim that the intervals do not carry (1).
# <!-- END SOLUTION -->

# %% id="intervals"
goodput_mbps = {
    queue_packets: run.flows.goodput_mbps[0] for queue_packets, run in runs.items()
}

# %% [markdown] id="figure-words"
# ## 5. The figure
#
# One figure with prediction and measurement. What does it show? Two sentences.
#
# <!-- BEGIN SOLUTION -->
# The worked project shows the bound as lines and the means with their intervals as points.
#
# Rubric, 3 points:
#
# - axes named, with units, from values that make the difference visible without exaggerating it (1);
# - prediction and measurement in one figure (1);
# - the two sentences say what is there to see, and no more (1).
# <!-- END SOLUTION -->

# %% id="figure" tags=["figure"]
figure = pd.Series(goodput_mbps, name="goodput_mbps").plot(
    kind="scatter", title="Goodput over room in the queue"
)
figure.update_layout(
    xaxis_title="Room in the queue (packets)", yaxis_title="Goodput (Mbit/s)", showlegend=False
)
figure

# %% [markdown] id="limits-words"
# ## 6. The limits
#
# Where was the prediction wrong, and why? What would another network, other traffic or a real machine change? What did others measure?
#
# <!-- BEGIN SOLUTION -->
# The worked project compares with the paper's router and with Mininet-HiFi, and says what its one bottleneck cannot show.
#
# Rubric, 4 points:
#
# - prediction against measurement, in numbers (1);
# - the reason of a difference is shown by a run, cited, or called a guess (1);
# - two things that the set-up cannot show (1);
# - compared with something published, or says that nothing was found (1).
# <!-- END SOLUTION -->
