"""Our changes to the kernel's source: made where they belong, or refused loudly."""

from pathlib import Path

import pytest

from netlab.base.errors import KernelError
from netlab_kernel import edits, library_build
from netlab_kernel.edit import Edit

NEWEST = (99, 0)
OLDEST = (6, 1)


@pytest.fixture
def tree(tmp_path: Path, places: dict[str, str]) -> Path:
    for place, text in places.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_every_edit_is_made_and_nothing_else_changes(tree: Path, places: dict[str, str]) -> None:
    patch = edits.apply(tree, NEWEST)

    assert "\tdefault 1000\n" in (tree / "arch/um/Kconfig").read_text()
    assert "config NR_CPUS\n\tint\n" in (tree / "arch/um/Kconfig").read_text()
    random = (tree / "arch/um/os-Linux/util.c").read_text()
    assert "netlab_seed=" in random and random.count("ssize_t os_getrandom(") == 1
    assert random.endswith("void os_dump_core(void)\n{\n\tint pid;\n}\n")
    assert '"netlab_seed=<number of 64 bits>\\n"' in random, "the C text keeps its backslashes"
    assert "command_line" not in (tree / "drivers/char/random.c").read_text()
    clock = (tree / "arch/um/kernel/time.c").read_text()
    assert clock.count("static u64 timer_read(struct clocksource *cs)\n{\n\tif (time_travel_mode") == 1
    assert "!time_travel_ext_waiting && netlab_polls_clock())\n\t\t\ttime_travel_update" in clock
    assert "return time_travel_time;" in clock and "return os_nsecs();" in clock and "NSEC_PER_SEC)" in clock
    assert clock.index("void netlab_count_call(void)") < clock.index("void time_travel_ndelay(unsigned long nsec)\n{")
    assert "delta += 1" not in clock and "itimer_next_event(1, evt)" in clock
    assert "#define TIMER_MIN_DELTA  1\n" in (tree / "arch/um/include/linux/time-internal.h").read_text()
    calls = (tree / "arch/um/kernel/skas/syscall.c").read_text()
    assert "\t\t\tif (netlab_polls_by_failing_calls())\n\t\t\t\tum_udelay(1);\n\t\t\tschedule();\n" in calls
    assert "PT_REGS_SYSCALL_RET(regs));\n}" in calls
    assert clock.index("void netlab_charge_call(long call") < clock.index(
        "void time_travel_ndelay(unsigned long nsec)\n{"
    )
    stub = (tree / "arch/um/kernel/skas/stub.c").read_text()
    assert "(if any)" not in stub and "\t\tnum_fds = 0;\n\t\tres = syscall_handler(fd_map);\n" in stub
    assert stub.endswith(
        "restart_wait:\n\tres = netlab_wait_for_kernel(d);\n\tif (res < 0)\n\t\tstub_syscall1(__NR_exit_group, 1);\n}\n"
    )
    waits = (tree / "arch/um/os-Linux/skas/process.c").read_text()
    assert (
        waits.index("static int netlab_wait_for_stub(")
        < waits.index("void wait_stub_done_seccomp(")
        < waits.index("netlab_resume_stub(mm_idp, data);")
        < waits.index("\t\t\tret = netlab_wait_for_stub(mm_idp, data);\n\t\t\tif (ret < 0)")
        < waits.index("\tif (using_seccomp) {\n\t\tnetlab_move_stub(mm_id);\n\t\twait_stub_done_seccomp(mm_id, 1, 1);")
    )
    freed = (tree / "arch/um/kernel/skas/mmu.c").read_text()
    assert "\tnetlab_forget_stub_data(mmu->id.stack);\n\tfree_pages(mmu->id.stack" in freed
    assert (tree / "arch/um/kernel/skas/mmu.c").read_text().count("netlab_take_stub(") == 2
    memory = (tree / "arch/um/os-Linux/mem.c").read_text()
    assert (
        memory.index("memfd_create(")
        < memory.index("\t\tfd = create_tmp_file(len);")
        < memory.index("os_set_exec_close")
    )
    mapping = (tree / "arch/x86/um/syscalls_64.c").read_text()
    assert (
        mapping.index("unsigned long mapped;") < mapping.index("return -EINVAL;") < mapping.index("mm_populate(mapped,")
    )
    faults = (tree / "arch/um/kernel/trap.c").read_text()
    assert faults.count("netlab_fill_next_pages(") == 2 and faults.count("Note this is constrained") == 1
    files = (tree / "fs/hostfs/hostfs_kern.c").read_text()
    assert files.index("static int netlab_mmap_prepare(") < files.index("\t.mmap_prepare\t= netlab_mmap_prepare,\n")
    assert calls.index("\tnetlab_count_call();\n") < calls.index("UPT_SYSCALL_NR(r)")
    assert (
        "obj-$(CONFIG_NETLAB_CHANNEL) += host_channel.o early_exits.o\nobj-y += stdio_console.o fd.o"
        in (tree / "arch/um/drivers/Makefile").read_text()
    )
    assert "netlab_set_seed" in (tree / "arch/um/drivers/host_channel.c").read_text()
    assert calls.index("\tnetlab_inspect_call(r);\n") < calls.index("UPT_SYSCALL_NR(r)")
    signals = (tree / "arch/um/kernel/signal.c").read_text()
    assert signals.index("\tnetlab_note_signal(ksig->sig);\n") < signals.index("void do_signal")
    memory = (tree / "arch/um/include/asm/mmu_context.h").read_text()
    assert memory.index("#define deactivate_mm netlab_deactivate_mm") < memory.index("#include <asm-generic")
    assert "void netlab_deactivate_mm(" in (tree / "arch/um/drivers/early_exits.c").read_text()
    assert "void netlab_set_seed(unsigned long long seed)" in random
    keys = (tree / "include/linux/once.h").read_text()
    assert keys.startswith(
        "#ifdef NETWORK_STREAMS\n#include <linux/network_random.h>\n#else\n#define get_random_once(buf"
    )
    assert keys.endswith("(nbytes))\n\n#endif\n\n#endif /* _LINUX_ONCE_H */\n")
    assert "obj-y\t\t\t\t:= network_random.o devres.o socket.o" in (tree / "net/Makefile").read_text()
    assert "struct network_stream" in (tree / "include/linux/network_random.h").read_text()
    assert "obj-$(CONFIG_TCP_CONG_TAHOE) += tcp_tahoe.o" in (tree / "net/ipv4/Makefile").read_text()
    assert (tree / "net/ipv4/tcp_tahoe.c").read_text().startswith("// SPDX-License-Identifier: GPL-2.0")
    limit = (tree / "net/sched/sch_tbf.c").read_text()
    assert limit.count("mul_u64_u64_div_u64(held") == 1
    assert "\tmemcpy(&q->rate, &rate, sizeof(struct psched_ratecfg));\n" in limit
    assert limit.endswith("\tq->tokens = q->buffer;\n\tq->ptokens = q->mtu;\n\tqdisc_watchdog_cancel(&q->watchdog);\n")
    wire = (tree / "net/sched/sch_netem.c").read_text()
    assert wire.count("netem_new_rate(") == 2
    for place in places:
        assert f"+++ b/{place}" in patch


@pytest.mark.parametrize("place", [edit.path for edit in edits.edits()])
def test_a_source_where_the_place_is_missing_is_refused_by_name(tree: Path, place: str) -> None:
    (tree / place).write_text("something else\n")
    with pytest.raises(KernelError, match=place.replace(".", r"\.")) as caught:
        edits.apply(tree, NEWEST)
    assert "found 0 times" in str(caught.value)


def test_a_missing_file_and_a_repeated_place_are_refused(tree: Path, places: dict[str, str]) -> None:
    twice = tree / "drivers/char/random.c"
    twice.write_text(places["drivers/char/random.c"] * 2)
    with pytest.raises(KernelError, match="found 2 times"):
        edits.apply(tree, NEWEST)
    assert twice.read_text() == places["drivers/char/random.c"] * 2
    twice.unlink()
    with pytest.raises(KernelError, match="cannot be read"):
        edits.apply(tree, NEWEST)


def test_an_older_source_does_without_the_edits_of_newer_ones(tree: Path, places: dict[str, str]) -> None:
    newer = {edit.path for edit in edits.edits() if edit.since}
    for place in newer:
        (tree / place).unlink()
    patch = edits.apply(tree, OLDEST)
    assert newer and not any(f"b/{place}" in patch for place in newer)
    assert "netlab_charge_call" in (tree / "arch/um/kernel/skas/syscall.c").read_text()


def test_edits_of_the_pocket_kernel_alone_do_not_change_the_library_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe_hash = library_build.recipe_hash.__wrapped__  # The other one remembers its result.
    before = recipe_hash()
    for place, changes in (
        ("fs/hostfs/hostfs_kern.c", False),
        ("arch/um/kernel/trap.c", False),
        ("net/socket.c", True),
    ):
        more = [*edits.edits(), Edit(place, "a", "b", "it is a test")]
        monkeypatch.setattr(library_build, "edits", lambda more=more: more)
        assert (recipe_hash() != before) is changes, place


def test_edit_states_its_reason(tree: Path) -> None:
    with pytest.raises(KernelError, match="where the moon is blue"):
        edits.apply(tree, NEWEST, [Edit("net/ipv4/Kconfig", "no such text", "", "the moon is blue")])
