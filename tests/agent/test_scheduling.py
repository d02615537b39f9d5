"""The agent's thread that waits for programs has real-time priority, also with a C library that refuses to set it."""

import os

import pytest

from netlab_engines.agent import host_channel


def test_policy_applies_to_the_calling_thread_and_a_wrong_one_raises_oserror() -> None:
    try:
        host_channel._schedule(os.SCHED_BATCH, 0)
        assert os.sched_getscheduler(0) == os.SCHED_BATCH
    finally:
        host_channel._schedule(os.SCHED_OTHER, 0)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    with pytest.raises(OSError, match="sched_setscheduler: Invalid argument"):
        host_channel._schedule(os.SCHED_OTHER, 5)
