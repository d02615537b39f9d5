"""The imports and first steps of every chapter: a page runs them while the student reads, and they are compiled when
the page is built. A cell that needs the first one, which has not run yet, leads to advice.
"""

import netlab as nl
from netlab_course.chapters import unsupported

unsupported.await_first_cell()
for name in dir(nl):
    getattr(nl, name)
topology = nl.topologies.dumbbell(1, rate_mbps=1, delay_ms=1, queue_packets=10)
nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=1)], duration_s=0.001, interval_s=0.001, progress=False)
nl.plots.topology(topology).to_json()
