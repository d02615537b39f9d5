"""Kernel settings of every run in every engine, and times at which a guest's events may start."""

STATIC_SYSCTLS = {
    # The next run must not start from values that the kernel learnt in this one.
    "net.ipv4.tcp_no_metrics_save": "1",
    # A router has one path for each flow, so a redirect would be wrong.
    "net.ipv4.conf.all.send_redirects": "0",
    "net.ipv4.conf.default.send_redirects": "0",
    "net.ipv4.conf.all.rp_filter": "0",
    # Echo replies must not be rate-limited.
    "net.ipv4.icmp_ratelimit": "0",
}

MACHINE_SYSCTLS = {
    # The kernel's default follows from its memory size; flows with large windows would starve, and no counter would show it.
    "net.ipv4.tcp_mem": "1048576 1310720 1572864",
}

# ping(8) of iputils interprets second 0 of the monotonic clock as "never sent".
MIN_PROGRAM_START_S = 2.0

# A Mininet script's first line runs at a multiple of this time since boot. The system calls of its Python and its imports take time, and
# their number depends on the machine: on bytecode, on the length of paths and on the files in the script's directory.
SCRIPT_GRID_NS = 500_000_000


def script_start_ns(now_ns: int) -> int:
    """Return the time since boot, in ns, at which a Mininet script begins whose Python was ready at `now_ns`: the next
    multiple of SCRIPT_GRID_NS after it, never `now_ns` itself.
    """
    return (now_ns // SCRIPT_GRID_NS + 1) * SCRIPT_GRID_NS


# Some disciplines (PIE, DualPI2) update at regular intervals since they were made. So every kernel makes all queues at one time since
# its boot, after the rest is built, or at a multiple of that time.
QUEUES_AT_NS = 8_192_000_000
