# %% [markdown] id="title"
# # How to work with a live network
#
# An experiment says everything beforehand and gives results afterwards. A *live network* is built once and then waits
# for you: type at its hosts, change its links, start traffic, look, and go on.
#
# After this page you can
#
# 1. run commands in hosts and start servers in the background;
# 2. start traffic of netlab's own, change or cut a link meanwhile, and see what happens;
# 3. capture packets and look at them.
#
# *Time*: 20 minutes. *It runs on*: any machine on which the next cell says "Ready".

# %% id="imports" tags=["nbval-ignore-output"]
import netlab as nl
from netlab_course.chapters import unsupported

unsupported.install_handler()  # a cell that cannot run here says so, and the page goes on
print(nl.preflight())

# %% [markdown] id="open-text"
# ## Open it
#
# The network is built in a second. Then it stands still: no time passes in it and it uses no processor until you ask for
# something. So it does not matter how long you think, and the same commands give the same output every time.

# %% id="open"
network = nl.Topology(
    hosts=["h1", "h2"],
    routers=["r1"],
    links=[
        nl.Link("h1", "r1"),
        nl.Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=50),
    ],
)
lab = nl.live(network, seed=1)
lab

# %% [markdown] id="commands-text"
# ## Type at hosts
#
# `%%host h1` on the first line of a cell runs its lines in the shell of `h1`. The names of the hosts are their addresses.
# What a command prints shows as it comes. To stop a command, interrupt the kernel (the square in the toolbar).

# %% id="ping"
# %%host h1
ping -c 3 h2

# %% [markdown] id="shell-text"
# The shell remembers: directory, variables and functions are there in the next cell. For a single command there is `%host`.

# %% id="line"
# %host r1 ip -brief address

# %% [markdown] id="python-text"
# In Python, a command returns its output as text, with its exit code.

# %% id="python"
said = lab["h1"].run("ping -c 5 -i 0.2 -q h2")
print(said.splitlines()[-1], "| exit code", said.exit_code)

# %% [markdown] id="server-text"
# A server is started in the background. It runs whenever network time passes: while a command runs, or while you let
# time pass with `lab.advance(seconds)`.

# %% id="server"
lab["h2"].write("index.html", "Hello from h2.\n")
server = lab["h2"].start("python3 -m http.server 80")
lab.advance(1)
fetch = (
    "import urllib.request; "
    "print(urllib.request.urlopen('http://h2/').read().decode().strip())"
)
print(lab["h1"].run(f'python3 -c "{fetch}"'))
print(server.stop())

# %% [markdown] id="traffic-text"
# ## Traffic, and a link that changes
#
# netlab's own traffic has the results that you know from experiments, up to the present moment.

# %% id="traffic"
flow = lab.start(nl.Tcp("h1", "h2"))
began_s = lab.now_s
lab.advance(10)
print(f"after {lab.now_s - began_s:.0f} s: {flow.row.goodput_mbps:.2f} Mbit/s")
lab.link("r1", "h2").change(rate_mbps=2)
lab.advance(25)
last = flow.intervals.tail(100)
passed_s = lab.now_s - began_s
print(f"after {passed_s:.0f} s: {last.goodput_mbps.mean():.2f} Mbit/s over the last 10 s")

# %% [markdown] id="down-text"
# A link can be cut and mended.

# %% id="down"
lab.link("r1", "h2").down()
lab.advance(3)
lab.link("r1", "h2").up()
lab.advance(10)
cut = flow.intervals.tail(120).head(15)
print(f"goodput while the link was cut: {cut.goodput_mbps.mean():.2f} Mbit/s")
print(f"after it was mended: {flow.intervals.tail(50).goodput_mbps.mean():.2f} Mbit/s")

# %% [markdown] id="series-text"
# `lab.run` has all tables so far, as a run has them, so every figure of a run can be drawn of it.

# %% id="series" tags=["nbval-ignore-output"]
flow.stop()
nl.plots.time_series(lab.run, ("goodput_mbps", "cwnd_segments"))

# %% [markdown] id="capture-text"
# ## Capture packets
#
# A capture sees both ends of a link: when a packet leaves one and when it arrives at the other. `stop()` gives a file
# that Wireshark opens, `packets` a table.

# %% id="capture"
lab.link("r1", "h2").change(rate_mbps=5)
lab.advance(1)
capture = lab.capture("r1", "h2", filter="icmp")
lab["h1"].run("ping -c 1 h2")
packets = capture.packets
table = packets[["t_s", "node", "departs", "src", "dst", "length_bytes"]]
table.assign(t_s=table.t_s - table.t_s.min()).round(6)

# %% [markdown] id="capture-read"
# The request leaves `r1` at 0 and arrives at `h2` after the delay of 10 ms and the 0.157 ms that 98 bytes take at
# 5 Mbit/s.
#
# The packets of a TCP connection make a time-sequence graph: a bar for each segment, when it leaves; below it what is
# acknowledged; above it what the receiver has room for.

# %% id="sequence" tags=["nbval-ignore-output"]
capture = lab.capture("h1", "r1")
lab.start(nl.Tcp("h1", "h2", num_bytes=100_000))
lab.advance(2)
nl.plots.time_sequence(capture.packets)

# %% [markdown] id="close-text"
# ## Close it
#
# `lab["h1"].terminal()` opens a terminal in a host: it prints what to type in a terminal of JupyterLab. While it is open, network time follows
# wall-clock time.
#
# A lab that you do not close ends with the notebook's kernel and leaves nothing behind. In a script, use
# `with nl.live(network) as lab:`. In a shell, `netlab live topology.json` opens Mininet's prompt over a network, and
# `netlab mininet script.py` runs a Mininet script without root.
#
# With root, `NETLAB_ENGINE=native` gives the same commands on the kernel of your machine, in real time. What is different there: time goes on
# while you think and cannot be slowed, output does not repeat, closing a terminal freezes nothing, and what you type runs as root on your
# own files.

# %% id="close"
lab.close()
lab
