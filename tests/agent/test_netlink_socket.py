"""A refusal of the kernel names the line that asked for it."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.root


def in_a_namespace(code: str) -> str:
    """Run a program in a new network namespace and return its output."""
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_refused_line_is_named_with_the_kernels_reason() -> None:
    text = in_a_namespace("""
        import threading
        from netlab_engines.agent.netlink_socket import NetlinkSocket
        from netlab.base.errors import RunError
        from netlab_engines.netlink.ip_lines import ip_line
        routing = NetlinkSocket(threading.get_native_id())
        lines = ["link set dev lo up", "route add 10.0.9.0/24 via 192.0.2.1", "address add 10.0.0.1/24 dev lo"]
        try:
            routing.send((f"ip {line}", ip_line(line, routing.interfaces)) for line in lines)
        except RunError as error:
            print(error)
    """)
    assert text.startswith("The kernel refused `ip route add 10.0.9.0/24 via 192.0.2.1`: Network is unreachable")


def test_more_lines_than_fit_a_message_all_arrive() -> None:
    text = in_a_namespace("""
        import subprocess
        import threading
        from netlab_engines.agent.netlink_socket import NetlinkSocket
        from netlab_engines.netlink.ip_lines import ip_line
        routing = NetlinkSocket(threading.get_native_id())
        lines = ["link set dev lo up", *(f"address add 10.1.{k // 250}.{k % 250}/32 dev lo" for k in range(2000))]
        routing.send((f"ip {line}", ip_line(line, routing.interfaces)) for line in lines)
        print(subprocess.run(["ip", "-o", "-4", "address", "show", "dev", "lo"], capture_output=True, text=True).stdout)
    """)
    assert text.count("10.1.") == 2000


def test_a_namespace_is_held_by_a_thread_and_goes_with_its_process() -> None:
    text = in_a_namespace("""
        import os
        from netlab_engines.agent.namespaces import create_namespace, enter_namespace
        held = create_namespace()
        with enter_namespace(held):
            print(os.stat("/proc/thread-self/ns/net").st_ino == os.stat(f"/proc/{held}/ns/net").st_ino)
        print(os.stat("/proc/thread-self/ns/net").st_ino == os.stat(f"/proc/{held}/ns/net").st_ino)
    """)
    assert text.split() == ["True", "False"]
