"""The edits that netlab makes in the kernel's source. Each edit must match its file exactly once."""

import difflib
import hashlib
import platform
import re
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels.versions import Version
from netlab_kernel.edit import RECIPE, Edit
from netlab_kernel.program_edits import faster_programs


def edits() -> list[Edit]:
    """Return the edits that this version of netlab makes in every kernel's source, in the order in
    which they are made.
    """
    return [
        Edit(
            "arch/um/Kconfig",
            r"(?m)^config HZ\n\tint\n\tdefault 100\n",
            "config HZ\n\tint\n\tdefault 1000\n\nconfig NETLAB_SEED\n\tdef_bool y\n\nconfig NETLAB_CHANNEL\n\tdef_bool y\n\n"
            "config NETLAB_PAUSE\n\tdef_bool y\n",
            "timers with the grain of a student's own machine (1 ms instead of 10 ms)",
        ),
        Edit(
            "arch/um/os-Linux/util.c",
            r"(?ms)^ssize_t os_getrandom\(void \*buf, size_t len, unsigned int flags\)\n\{\n.*?^\}\n",
            (RECIPE / "seeded_random.c").read_text(),
            "the random generator starts from netlab_seed= where that is given",
        ),
        Edit(
            "arch/um/kernel/time.c",
            r"(?m)^static u64 timer_read\(struct clocksource \*cs\)\n\{\n",
            (RECIPE / "clock_reads.c").read_text(),
            "readings of the clock at one instant are counted",
        ),
        Edit(
            "arch/um/kernel/time.c",
            r"(?m)^\t\t    !time_travel_ext_waiting\)\n",
            "\t\t    !time_travel_ext_waiting && netlab_polls_clock())\n",
            "reading the clock takes no time, save for a program that waits by reading",
        ),
        Edit(
            "arch/um/kernel/time.c",
            r"(?m)^void time_travel_ndelay\(unsigned long nsec\)\n\{\n",
            (RECIPE / "count_calls.c").read_text(),
            "system calls within one instant are counted",
        ),
        Edit(
            "arch/um/kernel/skas/syscall.c",
            r"(?m)^void handle_syscall\(struct uml_pt_regs \*r\)\n\{\n",
            "extern void netlab_count_call(void);\n"
            "extern void netlab_charge_call(long call, unsigned long first_argument, long result);\n"
            "extern bool netlab_polls_by_failing_calls(void);\nextern void netlab_inspect_call(struct uml_pt_regs *regs);\n\n"
            "void handle_syscall(struct uml_pt_regs *r)\n{\n",
            "a system call can be counted and looked at",
        ),
        Edit(
            "arch/um/kernel/skas/syscall.c",
            r"(?m)^\t\t\tum_udelay\(1\);\n",
            "\t\t\tif (netlab_polls_by_failing_calls())\n\t\t\t\tum_udelay(1);\n",
            "a system call that fails takes no time, save for a program that waits by trying",
        ),
        Edit(
            "arch/um/kernel/skas/syscall.c",
            r"(?m)^\t/\* Initialize the syscall number and default return value\. \*/\n",
            "\tnetlab_count_call();\n\tnetlab_inspect_call(r);\n\n\t/* Initialize the syscall number and default return value. */\n",
            "every system call is counted, and error messages and background commands are noted",
        ),
        Edit(
            "arch/um/kernel/skas/syscall.c",
            r"(?m)^out:\n\tsyscall_trace_leave\(regs\);\n",
            "out:\n\tsyscall_trace_leave(regs);\n"
            "\tnetlab_charge_call(UPT_SYSCALL_NR(r), UPT_SYSCALL_ARG1(r), PT_REGS_SYSCALL_RET(regs));\n",
            "starting a program takes time, and so does sending",
        ),
        *faster_programs(),
        Edit(
            "arch/um/drivers/Makefile",
            r"(?m)^obj-y := stdio_console\.o ",
            "obj-$(CONFIG_NETLAB_CHANNEL) += host_channel.o early_exits.o\nobj-y += stdio_console.o ",
            "the channel to the host and the device of early exits are compiled",
        ),
        Edit(
            "arch/um/include/asm/mmu_context.h",
            r"(?m)^#include <asm-generic/mmu_context\.h>\n",
            "void netlab_deactivate_mm(struct task_struct *task, struct mm_struct *mm);\n"
            "#define deactivate_mm netlab_deactivate_mm\n\n#include <asm-generic/mmu_context.h>\n",
            "a process that fails early is recorded while its arguments can be read",
        ),
        Edit(
            "arch/um/kernel/signal.c",
            r"(?m)^static void handle_signal\(struct ksignal \*ksig, struct pt_regs \*regs\)\n\{\n",
            "extern void netlab_note_signal(int number);\n\n"
            "static void handle_signal(struct ksignal *ksig, struct pt_regs *regs)\n{\n",
            "a signal can be noted",
        ),
        Edit(
            "arch/um/kernel/signal.c",
            r"(?m)^\t/\* Did we come from a system call\? \*/\n(?=\tif \(PT_REGS_SYSCALL_NR\(regs\) >= 0\) \{)",
            "\tnetlab_note_signal(ksig->sig);\n\n\t/* Did we come from a system call? */\n",
            "a process that was asked to end has not failed",
        ),
        *(
            Edit(
                "arch/um/kernel/time.c",
                re.escape(counted) + r" ?/ ?TIMER_MULTIPLIER\b",
                counted,
                "the clock counts nanoseconds, not steps of 256 whose phase would follow from what came before",
            )
            for counted in ("time_travel_time", "os_nsecs()", "NSEC_PER_SEC")
        ),
        Edit(
            "drivers/char/random.c",
            r"(?m)^\t_mix_pool_bytes\(command_line, strlen\(command_line\)\);\n",
            "",
            "directories named on the command line must not change the random numbers",
        ),
        Edit(
            "drivers/char/random.c",
            r"(?m)^\tblake2s_final\(&input_pool\.hash, seed\);\n",
            "\tblake2s_final(&input_pool.hash, seed);\n\tmemzero_explicit(seed, sizeof(seed));\n",
            "new keys follow from os_getrandom() alone, not from other entropy and its time",
        ),
        Edit(
            "net/sched/sch_tbf.c",
            r"(?m)^\tq->tokens = q->buffer;\n\tq->ptokens = q->mtu;\n\n\tmemcpy\(&q->rate, &rate,",
            (RECIPE / "tbf_change.c").read_text().rstrip("\n"),
            "a rate limit keeps what is in its bucket when its rate changes",
        ),
        Edit(
            "net/sched/sch_netem.c",
            r"(?m)^/\* Parse netlink message to set options \*/\nstatic int netem_change\(struct Qdisc \*sch, struct nlattr \*opt,\n",
            (RECIPE / "netem_rate.c").read_text(),
            "a wire's frames can go on at another rate",
        ),
        Edit(
            "net/sched/sch_netem.c",
            r"(?m)^\tint old_loss_model = CLG_RANDOM;\n",
            "\tint old_loss_model = CLG_RANDOM;\n\ts64 old_latency = q->latency;\n\tu64 old_rate = q->rate;\n",
            "a wire's rate is kept until the change is made",
        ),
        Edit(
            "net/sched/sch_netem.c",
            r"(?m)^\t/\* capping jitter to the range acceptable by tabledist\(\) \*/\n\tq->jitter = [^\n]*\n",
            "\tq->jitter = min_t(s64, abs(q->jitter), INT_MAX);\n\tnetem_new_rate(q, old_latency, old_rate);\n",
            "a wire's frames go on at the new rate",
        ),
        Edit(
            "net/sched/sch_netem.c",
            r"(?m)^\t\t\tq->loss_model = CLG_GILB_ELL;\n\t\t\tq->clg\.state = GOOD_STATE;\n",
            "\t\t\tif (q->loss_model != CLG_GILB_ELL)\n\t\t\t\tq->clg.state = GOOD_STATE;\n\t\t\tq->loss_model = CLG_GILB_ELL;\n",
            "bursts of loss go on when something else of a wire changes",
        ),
        Edit(
            "arch/um/kernel/time.c",
            r"(?m)^\tdelta \+= 1;\n\n",
            "",
            "timers come when they are due, not a nanosecond later",
        ),
        Edit(
            "arch/um/kernel/time.c",
            r"\breturn itimer_next_event\(0, evt\);",
            "return itimer_next_event(1, evt);",
            "the first timer lies ahead, as it did with the nanosecond that all others have lost",
        ),
        Edit(
            "arch/um/include/linux/time-internal.h",
            r"(?m)^#define TIMER_MIN_DELTA  500\n",
            "#define TIMER_MIN_DELTA  1\n",
            "timers come when they are due, however soon that is",
        ),
        Edit(
            "kernel/sys.c",
            r"(?m)^\t\t\tcurrent->timer_slack_ns = arg2;\n",
            "\t\t\tcurrent->timer_slack_ns = arg2 - 1;\n",
            "a process that asks for the least slack, 1 ns, has none, so that no other timer decides when a sleep ends",
        ),
        Edit(
            "include/linux/random.h",
            r"(?m)^#endif /\* _LINUX_RANDOM_H \*/\n",
            "#ifdef NETWORK_STREAMS\n#include <linux/network_random.h>\n#endif\n\n#endif /* _LINUX_RANDOM_H */\n",
            "the network draws from streams of its own",
        ),
        Edit(
            "include/linux/once.h",
            r"(?m)^(?=#define get_random_once\()",
            "#ifdef NETWORK_STREAMS\n#include <linux/network_random.h>\n#else\n",
            "keys that the network draws once do not hang on what came before",
        ),
        Edit(
            "include/linux/once.h",
            r"(?m)^#endif /\* _LINUX_ONCE_H \*/\n",
            "#endif\n\n#endif /* _LINUX_ONCE_H */\n",
            "the choice between these keys and others ends",
        ),
        Edit(
            "net/Makefile",
            r"(?m)^obj-y\t\t\t\t:= devres\.o ",
            "subdir-ccflags-y += -DNETWORK_STREAMS\nobj-y\t\t\t\t:= network_random.o devres.o ",
            "code under net/ knows its streams",
        ),
        Edit(
            "net/ipv4/route.c",
            r"(?m)^(?P<indent>\s*)2048,\n\s*256 ?\* ?1024\);\n",
            "\n\t\t\t\t\t      2048,\n\t\t\t\t\t      2048);\n",
            "the numbers of IP packets do not hang on how much memory there is",
        ),
        Edit(
            "net/ipv4/tcp_output.c",
            r"(?m)^\t\t    !tcp_accecn_ace_fail_send\(tp\)\)\n\t\t\tINET_ECN_xmit\(sk\);\n",
            "\t\t    !tcp_accecn_ace_fail_send(tp))\n\t\t\t__INET_ECN_xmit(sk, tcp_ca_ect_1_negotiation(sk));\n",
            "a congestion control that asks for ECT(1) in the handshake sends its data with it",
            (7, 3),
        ),
        Edit(
            "net/ipv4/Kconfig",
            r"(?m)^config TCP_CONG_BBR\n",
            'config TCP_CONG_TAHOE\n\ttristate "TCP Tahoe"\n\tdefault n\n\nconfig TCP_CONG_BBR\n',
            "TCP Tahoe can be configured",
        ),
        Edit(
            "net/ipv4/Makefile",
            r"(?m)^obj-\$\(CONFIG_TCP_CONG_BBR\) \+= tcp_bbr\.o\n",
            "obj-$(CONFIG_TCP_CONG_BBR) += tcp_bbr.o\nobj-$(CONFIG_TCP_CONG_TAHOE) += tcp_tahoe.o\n",
            "TCP Tahoe is compiled",
        ),
    ]


def wasm_edits() -> list[Edit]:
    """Return the further edits of the kernel's source that only the library kernel as WebAssembly needs, in the order
    in which they are made.
    """
    return [
        Edit(
            "scripts/mod/Makefile",
            r"(?m)^      cmd_elfconfig = .*$",
            '      cmd_elfconfig = echo "\\#define KERNEL_ELFCLASS ELFCLASS64" > $@',
            "objects of WebAssembly are not in ELF",
        ),
        Edit(
            "kernel/time/timer.c",
            r"(?m)^EXPORT_SYMBOL\(jiffies_64\);\n",
            'EXPORT_SYMBOL(jiffies_64);\nextern unsigned long volatile jiffies __attribute__((alias("jiffies_64")));\n',
            "wasm-ld reads no linker script, which elsewhere gives the clock its second name",
        ),
    ]


def additions() -> dict[str, Path]:
    """Return netlab's own source files that are copied to the kernel's source: the path of each in the kernel's tree,
    and the file to copy.
    """
    return {
        "net/ipv4/tcp_tahoe.c": RECIPE / "tcp_tahoe.c",
        "net/network_random.c": RECIPE / "network_random.c",
        "include/linux/network_random.h": RECIPE / "network_random.h",
        "arch/um/drivers/host_channel.c": RECIPE / "host_channel.c",
        "arch/um/drivers/early_exits.c": RECIPE / "early_exits.c",
    }


def apply(tree: Path, version: Version, some_edits: list[Edit] | None = None) -> str:
    """Make edits in the kernel source in the folder `tree`, of a version such as (7, 3, 4), and return the change as a
    unified diff. Without `some_edits` (None) all of `edits()` are made and the files of `additions()` are copied into
    the tree, else only the edits in `some_edits`; edits for later versions are left out. Raises KernelError, before
    anything is written, if a file cannot be read or the place of an edit is not found exactly once.
    """
    changes: list[str] = []
    written: dict[Path, str] = {}
    for edit in edits() if some_edits is None else some_edits:
        if version < edit.since:
            continue
        path = tree / edit.path
        try:
            before = written.get(path) or path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise KernelError(f"{_unknown_source(edit)} The file cannot be read ({error.strerror}).") from error
        after, count = re.subn(edit.pattern, edit.replacement.replace("\\", r"\\"), before)
        if count != 1:
            raise KernelError(f"{_unknown_source(edit)} Its text was found {count} times instead of once.")
        written[path] = after
        changes += difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{edit.path}", f"b/{edit.path}"
        )
    for path, text in written.items():
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    if some_edits is None:
        for place, source in additions().items():
            (tree / place).write_bytes(source.read_bytes())
            changes += difflib.unified_diff([], source.read_text().splitlines(keepends=True), "/dev/null", f"b/{place}")
    return "".join(changes)


def _unknown_source(edit: Edit) -> str:
    """Return the first sentences of the error message for a source in which the place of an edit was not found: the
    file, the edit's reason and the versions that can be used.
    """
    return (
        f"This kernel source is not one that netlab knows how to change: in {edit.path} the place was "
        f"looked for where {edit.reason}. Build from linux-source 6.12 or 7.x, or report this version."
    )


def recipe_hash() -> str:
    """Return the SHA-256, in hexadecimal digits, of the pocket kernel's recipe (configuration, additions and edits); a
    build with another hash was made by another version of netlab.
    """
    digest = hashlib.sha256()
    for path in sorted(RECIPE.iterdir()):
        if path.suffix in {".c", ".h", ".config"}:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for edit in edits():
        digest.update(f"{edit.path}\0{edit.pattern}\0{edit.replacement}\0{edit.since}\0".encode())
    return digest.hexdigest()


def build_key(source_id: str) -> str:
    """Return twelve hexadecimal digits that identify the build of a source by the present recipe for this machine's
    processor; `source_id` is the `identity` of a Source.
    """
    return hashlib.sha256(f"{source_id}\0{recipe_hash()}\0{platform.machine()}".encode()).hexdigest()[:12]
