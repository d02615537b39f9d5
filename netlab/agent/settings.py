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
