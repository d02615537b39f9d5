# %% [markdown] id="title"
# # A sample
#
# The link carries [[rate_mbps]] Mbit/s, and [[worked_mbps:.3f]] Mbit/s when it is twice as fast.

# %% id="imports" tags=["nbval-ignore-output"]
import numpy as np

import netlab as nl
from netlab_course.chapters import sample

chapter = sample.begin()
own = chapter.own
print(nl.preflight())

# %% id="limit"
def limit_mbps(rate_mbps, payload_bytes):
    """The most data that gets through, in Mbit/s."""
    # BEGIN SOLUTION
    return rate_mbps * payload_bytes / (payload_bytes + 42)
    # END SOLUTION


# %% id="limit-check"
chapter.check.limit(limit_mbps)

# %% id="network"
network = chapter.settings.network(own.rate_mbps, own.queue_packets)
overload_mbps = 2 * own.rate_mbps

# %% id="climb"
climb = nl.run(network, [nl.Udp("h1", "h2", rate_mbps=overload_mbps, payload_bytes=own.payload_bytes)], duration_s=2)
measured_mbps = float(climb.flows.goodput_mbps[0])
print(f"{measured_mbps:.2f} Mbit/s")

# %% id="counted"
counted_bytes = own.rate_mbps * own.payload_bytes / measured_mbps  # SOLUTION

# %% id="counted-check"
chapter.check.counted(counted_bytes)

# %% id="overload_run"
my_run = ...
# BEGIN SOLUTION NO PROMPT
my_run = nl.run(network, [nl.Udp("h1", "h2", rate_mbps=overload_mbps)], duration_s=3)
# END SOLUTION

# %% id="overload_run-check"
chapter.check.overload_run(my_run)

# %% [markdown] id="why-words"
# Why does less arrive than is sent? Two sentences.
#
# <!-- BEGIN SOLUTION -->
# The link has one rate. What the queue cannot hold is lost.
#
# Rubric:
#
# - names the rate (1)
# - names the queue (1)
# <!-- END SOLUTION -->

# %% id="letter"
first_full = "b"  # SOLUTION

# %% id="letter-check"
chapter.check.letter(first_full)

# %% id="search"
def search(probe):
    """The bottleneck's rate in Mbit/s, from few probes."""
    # BEGIN SOLUTION
    offered = 0.01
    while probe(offered) > 0.99 * offered:
        offered *= 2
    return probe(offered)
    # END SOLUTION


# %% id="search-check"
chapter.check.search(search)

# %% [markdown] id="summary"
# ## Summary
