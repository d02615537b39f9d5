# %% [markdown] id="title"
# # Start here
#
# **What can I do with this laboratory?**
#
# You can build networks, send real traffic through them, and see how theory and measurement agree. No experiment here can
# break your computer or anybody's network. After this page you know how all other chapters work.
#
# *Time*: [[minutes]] minutes. *Builds on*: nothing. *Runs on*: any machine on which the next cell says "Ready".
#
# A page consists of cells. Click on the next one and press **Shift+Enter**: it runs, and its answer appears below it. Run all cells of a page in
# order. Where you have to write code, the cell shows `...`. Where it says *Your answer*, click on the text and
# press **Enter** (or double-click), write below, and press Shift+Enter. **Esc** ends writing without running anything.

# %% id="imports" tags=["nbval-ignore-output"]
import netlab as nl
from netlab_course.chapters import start_here

chapter = start_here.begin()
nl.preflight()

# %% [markdown] id="network-text"
# ## A network
#
# A network has *hosts*, which send and receive; *routers*, which pass packets on; and *links* between them. A link has a
# *delay* (how long a bit travels, one way), and may have a *rate* (how many bits a second) with a *queue* before it, where packets wait.

# %% id="network" tags=["figure"]
network = nl.Topology(
    hosts=["h1", "h2", "h3"],
    routers=["r1"],
    links=[
        nl.Link("h1", "r1", delay_ms=5),
        nl.Link("r1", "h2", delay_ms=10),
        nl.Link("r1", "h3", delay_ms=20, rate_mbps=10, queue_packets=100),
    ],
)
nl.plots.topology(network, title="Three hosts and a router")

# %% [markdown] id="predict-text"
# ## A prediction, and a ping
#
# A *ping* is a small packet that the other side sends back. The time until it is back is the *round-trip time*. Before you run it: how many milliseconds will a ping from `h1` to `h2` take? Write the number in place of `...`. Predictions are not graded. They
# help you to notice what you did not know.

# %% id="predict"
my_rtt_ms = 30  # SOLUTION

prediction = nl.checks.predict("round-trip time h1-h2", my_rtt_ms, unit="ms", low=0)

# %% id="ping"
pings = nl.run(network, [nl.Ping("h1", "h2", count=5)], duration_s=2)
prediction.compare(pings.flows["rtt_ms"].iloc[0])

# %% [markdown] id="rtt-text"
# ## An exercise, and its check
#
# How many milliseconds does a ping from `h2` to `h3` take? Tolerance: [[tolerance]]. The cell below checks your answer. If it is wrong, the cell says
# what to look at. Try again as often as you like: what you have passed stays passed. For a hint, press *Next hint* below a check that failed;
# each press gives a stronger one. Where there is no such button, run `chapter.check.rtt.hint()` in a cell of your own.
#
# When you restart the kernel (the Python process behind the page), cells say `NameError`, and the sliders of a panel do nothing or ask you to
# run its cell again. Then choose *Run > Run All Above Selected Cell*, and run the cell again.

# %% id="rtt"
rtt_ms = 60  # SOLUTION

# %% id="rtt-check" tags=["minutes-4"]
chapter.check.rtt(rtt_ms)

# %% [markdown] id="flow-text"
# ## A flow
#
# A *flow* is one conversation. Here `h1` sends to `h3` for 10 s with TCP, as a download does, through the slow link of 10 Mbit/s. (*TCP* finds
# its own pace and sends again what is lost; *UDP* sends at the pace that you set, and repeats nothing.) The flow's *goodput* is the data that
# arrives, without headers. `run.flows` has a row for each flow.

# %% id="flow"
run = nl.run(network, [nl.Tcp("h1", "h3")], duration_s=10)
flow = run.flows.iloc[0]
print(f"goodput {flow['goodput_mbps']:.1f} Mbit/s, round-trip time {flow['rtt_ms']:.0f} ms")

# %% [markdown] id="panel-text"
# A ping from `h1` to `h3` takes 50 ms when no other host sends. The download made the time longer. Why? Packets wait in the queue. The chapters are about such questions.
#
# ## A panel
#
# Drag a slider, or type a number beside it; the experiment runs again. Earlier runs stay in the figure, but fainter. First add 5, then 10 Mbit/s of other traffic. What happens to the pings?

# %% id="panel" tags=["figure", "nbval-ignore-output"]
chapter.panel()

# %% [markdown] id="progress-text"
# ## Where you are
#
# The next cell lists all chapters and what you have passed. (In a terminal: `netlab progress`.) The list is kept on this computer only.

# %% id="progress" tags=["nbval-ignore-output"]
nl.progress()

# %% [markdown] id="summary"
# ## Summary
#
# 1. Describe a network (`nl.Topology`, `nl.Link`) and traffic (`nl.Ping`, `nl.Udp`, `nl.Tcp`), then `nl.run` it.
# 2. Predict first, measure, and ask: why do they differ?
# 3. A check says what to look at, a hint says more, and a wrong try spoils nothing.

# %% [markdown] id="chapters"
# ## The chapters
#
# Read them in the order of their numbers.
#
# | chapter | the question | builds on |
# |---|---|---|
# | [1 UDP loss](01_udp_loss.ipynb) | Which rate would you choose, and what does a wrong choice cost? | this page |
# | [2 How sure are you?](02_how_sure.ipynb) | Two queues, one run each. One lost less. Does it always lose less? | 1 |
# | [3 Congestion collapse](03_congestion_collapse.ipynb) | Why must senders slow down at all? | 1 |
# | [4 Delay and jitter](04_delay_and_jitter.ipynb) | What do they do to TCP and to UDP? | 1 |
# | [5 BDP](05_bdp.ipynb) | When does the window limit a transfer, and when the link? | 1 |
# | [6 Congestion control](06_congestion_control.ipynb) | What is one lost packet worth? | 5 |
# | [7 Short flows](07_short_flows.ipynb) | Why is a page not faster on a faster line? | 5, 6 |
# | [8 Multiplexing](08_multiplexing.ipynb) | Which flow gets what when paths cross? | 5, 6 |
# | [9 Parallel streams](09_parallel_streams.ipynb) | What do K connections buy, and at whose cost? | 5, 6 |
# | [10 TCP beside UDP](10_tcp_beside_udp.ipynb) | What happens to the flow that slows down? | 1, 6 |
# | [11 Fair by which measure?](11_fairness.ipynb) | Two flows share a link. Which one gets more, and by which measure is that fair? | 6, 8 |
# | [12 Queues that speak up](12_queues.ipynb) | Can we have a full link and an empty queue? | 5, 6 |
# | [13 Why is 95 % too much?](13_load_and_delay.ipynb) | A link is busy 95 % of the time, so it has room left. Why do packets wait so long? | 1, 4 |
# | [14 Build a reliable transfer](14_reliable_transfer.ipynb) | A network may lose, duplicate and delay packets. How do you deliver everything once, in order, and fast? | 5, 6 |
# | [15 Your own congestion control](15_own_control.ipynb) | Can you beat CUBIC on a path that you have not seen? | 5, 6 |
# | [16 Wi-Fi](16_wifi.ipynb) | What is left of 54 Mbit/s? | 1, 2 |
# | [17 Incast](17_incast.ipynb) | Why do sixteen fast servers take 200 ms for what takes 4? | 7, 12 |
# | [18 Adaptive video](18_adaptive_video.ipynb) | How good can five minutes of video be on a train? | 2, 7 |
#
# Each says how many minutes it takes, 90 at most. What comes after its summary is optional.

# %% [markdown] id="labs"
# ## The published labs
#
# Five university labs asked these questions before and published what they measured. The chapters measure the same, and explain the differences where they
# can. They use short names for the labs:
#
# | name | lab |
# |---|---|
# | `simpleperf` | *Simpleperf and performance evaluation*, portfolio 1 of DATA2410, OsloMet, 2023 |
# | `siit` | *Performance Analysis of Transport Protocols over Wireless LAN and Ethernet*, assignment of ITS 413, SIIT, Thammasat University |
# | `epfl` | *Congestion Control; TCP, UDP*, lab 5 of TCP/IP Networking, EPFL, 2021 |
# | `ece6110` | *TCP Throughput Measurements*, lab 1 of ECE 6110, CAD for Communication Networks |
# | `lab9` | *Enhancing TCP Throughput with Parallel Streams*, lab 9 of Network Tools and Protocols, 2019 |

# %% [markdown] id="tools"
# ## What runs here
#
# - **The pocket kernel** is a real Linux kernel, compiled as an ordinary program. For each run it starts, builds your network, and ends. That is why
#   you need no root password, and why nothing is left behind.
# - **Mininet** builds the network in it: each host is a part of the pocket kernel with its own interfaces and addresses.
# - **tc** is Linux's program for queues. It gives a link its rate and its queue.
# - **netem** is the part of Linux that holds packets back (delay, jitter) or drops them (loss).
# - **Virtual time**: the clock of the pocket kernel stands still while anything computes, and jumps ahead when everything waits. So a minute of network time takes a second
#   or two. A slow computer gives the same results as a fast one, and a repeated run gives the same results again. But virtual time cannot show what a busy processor does to a network.
# - **Two ways to run it.** The same kernel is also built as a library, which is faster and needs no Mininet. `nl.run` and `nl.sweep` use the library unless a host has a command of
#   its own. Both give the same results, to the last bit. `run.settings["engine"]` says which one it was.
# - A **seed** is a number that decides all that is random in a run. `nl.run(..., seed=2)` makes another random draw.
#
# In figures, the *residual* is the measured value minus theory. `glossary.md` next to your copies of the chapters explains
# terms and symbols.

# %% id="versions" tags=["nbval-ignore-output"]
settings = run.settings
print(
    f"netlab {settings['netlab']}, {settings['engine']} engine, {settings['clock']} time, "
    f"Linux {settings['kernel']}, seed {settings['scenario']['seed']}"
)
