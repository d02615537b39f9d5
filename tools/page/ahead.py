"""What every chapter imports and starts with: a page runs it while the student reads, and what it imports is compiled when it is made."""

import netlab as nl

for name in dir(nl):
    getattr(nl, name)
topology = nl.topologies.dumbbell(1, rate_mbps=1, delay_ms=1, queue_packets=10)
nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=1)], duration_s=0.001, interval_s=0.001, progress=False)
nl.plots.topology(topology).to_json()
