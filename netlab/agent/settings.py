"""Kernel settings that every run has, whichever engine it runs in, and when a guest's programs may start."""

STATIC_SYSCTLS = {
    # The next run must not start from what this one learnt.
    "net.ipv4.tcp_no_metrics_save": "1",
    # A router here has one path for a flow and nothing to redirect.
    "net.ipv4.conf.all.send_redirects": "0",
    "net.ipv4.conf.default.send_redirects": "0",
    "net.ipv4.conf.all.rp_filter": "0",
    # Echo replies must not be rationed.
    "net.ipv4.icmp_ratelimit": "0",
}

MACHINE_SYSCTLS = {
    # The kernel would derive it from its memory, and flows with large windows would starve without a drop in any counter.
    "net.ipv4.tcp_mem": "1048576 1310720 1572864",
}

# ping(8) of iputils takes second 0 of the monotonic clock for "never sent".
FIRST_S = 2.0

# Some disciplines (PIE, DualPI2) look at their queue at regular intervals since they were made. So every kernel makes all queues at one
# moment since its boot, later than the rest is built, or at a multiple of it.
QUEUES_AT_NS = 8_192_000_000

# The kernel's timers of more than 63 ms come at multiples of 8, 64 or 512 ms since its boot (the levels of its timer wheel).
# Where traffic begins among these must not follow from how long building took; 4096 ms is the same place for all of them. And it
# begins at one moment in every kernel (or at a multiple of it), because first sequence numbers follow from the clock.
TRAFFIC_AT_S = 16.384
