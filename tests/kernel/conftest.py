"""Fixtures for the tests of kernel builds."""

import pytest

# The places of a kernel source that netlab changes, as 6.12 to 7.3 have them, with a little around.
PLACES = {
    "arch/um/Kconfig": "config NO_DMA\n\tdef_bool y\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig NR_CPUS\n\tint\n",
    "arch/um/os-Linux/util.c": (
        "#include <sys/random.h>\n\n"
        "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
        "{\n\treturn getrandom(buf, len, flags);\n}\n\n"
        "void os_dump_core(void)\n{\n\tint pid;\n}\n"
    ),
    "arch/um/kernel/time.c": (
        "void time_travel_ndelay(unsigned long nsec)\n{\n\ttime_travel_update_time_rel(nsec);\n}\n"
        "static u64 timer_read(struct clocksource *cs)\n{\n\tif (time_travel_mode != TT_MODE_OFF) {\n"
        "\t\tif (!irqs_disabled() && !in_interrupt() && !in_softirq() &&\n\t\t    !time_travel_ext_waiting)\n"
        "\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n\t\treturn time_travel_time / TIMER_MULTIPLIER;\n\t}\n"
        "\treturn os_nsecs() / TIMER_MULTIPLIER;\n}\n"
        "static int itimer_next_event(unsigned long delta,\n\t\t\t     struct clock_event_device *evt)\n{\n\tdelta += 1;\n\n"
        "\tif (time_travel_mode != TT_MODE_OFF)\n\t\tadd(delta);\n}\n"
        "static int itimer_one_shot(struct clock_event_device *evt)\n{\n\treturn itimer_next_event(0, evt);\n}\n"
        "\terr = clocksource_register_hz(&timer_clocksource, NSEC_PER_SEC/TIMER_MULTIPLIER);\n"
    ),
    "arch/um/include/linux/time-internal.h": "#define TIMER_MULTIPLIER 256\n#define TIMER_MIN_DELTA  500\n",
    "arch/um/kernel/skas/syscall.c": (
        "void handle_syscall(struct uml_pt_regs *r)\n{\n\tint syscall;\n\n"
        "\t/* Initialize the syscall number and default return value. */\n\tUPT_SYSCALL_NR(r) = 1;\n"
        "\t\t\tum_udelay(1);\n\t\t\tschedule();\nout:\n\tsyscall_trace_leave(regs);\n}\n"
    ),
    "arch/um/include/shared/skas/stub-data.h": (
        "#define FUTEX_IN_CHILD 0\n#define FUTEX_IN_KERN 1\n\tshort restart_wait;\n\tunsigned int futex;\n\tint signal;\n"
    ),
    "arch/um/include/shared/skas/mm_id.h": "struct mm_id {\n\tint pid;\n\tunsigned long stack;\n};\n",
    "arch/um/os-Linux/skas/process.c": (
        "#include <sched.h>\nvoid wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)\n{\n"
        "\t\t\tdata->signal = 0;\n\t\t\tdata->futex = FUTEX_IN_CHILD;\n\t\t\tCATCH_EINTR(syscall(__NR_futex, &data->futex,\n"
        "\t\t\t\t\t    FUTEX_WAKE, 1, NULL, NULL, 0));\n\t\t}\n\t\t\tret = syscall(__NR_futex, &data->futex,\n"
        "\t\t\t\t      FUTEX_WAIT, FUTEX_IN_CHILD,\n\t\t\t\t      NULL, NULL, 0);\n\t\t\tif (ret < 0) {\n\t\t\t}\n}\n"
        "\tif (using_seccomp) {\n\t\twait_stub_done_seccomp(mm_id, 1, 1);\n\t}\n\tif (using_seccomp) {\n\t}\n"
    ),
    "arch/um/kernel/skas/stub_exe.c": (
        "\tif (init_data.seccomp) {\n\t\tres = stub_syscall3(__NR_close_range, 1, ~0U, 0);\n\t\tif (res != 0)\n"
    ),
    "arch/um/os-Linux/skas/mem.c": (
        "\t/* Find an FD slot (or flush and use first) */\n\tif (!using_seccomp)\n\t\treturn fd;\n\n\treturn 0;\n}\n"
        "\t\tif (using_seccomp)\n\t\t\tprev_fd = mm_idp->syscall_fd_map[sc->mem.fd];\n"
    ),
    "arch/x86/um/syscalls_64.c": (
        "#include <linux/syscalls.h>\n\tif (off & ~PAGE_MASK)\n\t\treturn -EINVAL;\n\n"
        "\treturn ksys_mmap_pgoff(addr, len, prot, flags, fd, off >> PAGE_SHIFT);\n}\n"
    ),
    "arch/um/os-Linux/mem.c": (
        "int __init create_mem_file(unsigned long long len)\n{\n\tint err, fd;\n\n\tfd = create_tmp_file(len);\n\n"
        "\terr = os_set_exec_close(fd);\n}\n\tint err, fd = create_tmp_file(UM_KERN_PAGE_SIZE);\n"
    ),
    "arch/um/kernel/trap.c": (
        "/*\n * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by\n * segv().\n */\n"
        "int handle_page_fault(unsigned long address, unsigned long ip,\n\t\t      int is_write, int is_user, int *code_out)\n{\n"
        "\t} while (!pte_present(*pte));\n\terr = 0;\nout:\n\treturn err;\n}\n"
    ),
    "fs/hostfs/hostfs_kern.c": (
        "#include <linux/fs.h>\n\nstatic const struct file_operations hostfs_file_fops = {\n"
        "\t.mmap_prepare\t= generic_file_mmap_prepare,\n\t.open\t\t= hostfs_open,\n};\n"
    ),
    "arch/um/kernel/skas/stub.c": (
        "\t\t\t\t\t    MAP_SHARED | MAP_FIXED,\n"
        "\t\t/* Read passed FDs (if any) */\n\t\tdo {\n\t\t} while (res == -EINTR);\n\n\t\tnum_fds = 0;\n"
        "\t\tfd_map = (void *)CMSG_DATA(fd_msg);\n\n\t\tres = syscall_handler(fd_map);\n"
        'void __section(".__syscall_stub")\nstub_signal_interrupt(int sig, siginfo_t *info, void *p)\n{\nrestart_wait:\n'
        "\td->futex = FUTEX_IN_KERN;\n\tdo {\n\t\tres = stub_syscall3(1);\n\t} while (res == -EINTR);\n\n"
        "\tif (res < 0 && res != -EAGAIN)\n\t\tstub_syscall1(__NR_exit_group, 1);\n}\n"
    ),
    "arch/um/kernel/skas/mmu.c": (
        "int init_new_context(struct task_struct *task, struct mm_struct *mm)\n{\n"
        "\tstack = __get_free_pages(GFP_KERNEL | __GFP_ZERO, ilog2(STUB_DATA_PAGES));\n}\n"
        "\t\tlist_del(&mm->context.list);\n\n\t\tlist_for_each_entry(mm_context, &mm_list, list) {\n\t\t}\n"
        "\tfree_pages(new_id->stack, ilog2(STUB_DATA_PAGES));\n\tfree_pages(mmu->id.stack, ilog2(STUB_DATA_PAGES));\n"
    ),
    "arch/um/include/asm/mmu_context.h": "extern void destroy_context(struct mm_struct *mm);\n\n#include <asm-generic/mmu_context.h>\n",
    "arch/um/kernel/signal.c": (
        "static void handle_signal(struct ksignal *ksig, struct pt_regs *regs)\n{\n\tint err;\n\n"
        "\t/* Did we come from a system call? */\n\tif (PT_REGS_SYSCALL_NR(regs) >= 0) {\n\t}\n}\n\n"
        "void do_signal(struct pt_regs *regs)\n{\n"
        "\t/* Did we come from a system call? */\n\tif (!handled_sig && (PT_REGS_SYSCALL_NR(regs) >= 0)) {\n\t}\n}\n"
    ),
    "arch/um/drivers/Makefile": "obj-y := stdio_console.o fd.o chan_kern.o\nobj-$(CONFIG_SSL) += ssl.o\n",
    "drivers/char/random.c": "\tarch_bits();\n\t_mix_pool_bytes(command_line, strlen(command_line));\n\n\tdone();\n"
    "\tblake2s_final(&input_pool.hash, seed);\n\n\tdone();\n",
    "net/sched/sch_tbf.c": (
        "\tq->tokens = q->buffer;\n\tq->ptokens = q->mtu;\n\n\tmemcpy(&q->rate, &rate, sizeof(struct psched_ratecfg));\n"
        "\tq->tokens = q->buffer;\n\tq->ptokens = q->mtu;\n\tqdisc_watchdog_cancel(&q->watchdog);\n"
    ),
    "net/sched/sch_netem.c": (
        "\t\t\tq->loss_model = CLG_GILB_ELL;\n\t\t\tq->clg.state = GOOD_STATE;\n\t\t\tq->clg.a1 = ge->p;\n"
        "/* Parse netlink message to set options */\nstatic int netem_change(struct Qdisc *sch, struct nlattr *opt,\n"
        "\tint old_loss_model = CLG_RANDOM;\n\tint ret;\n"
        "\t/* capping jitter to the range acceptable by tabledist() */\n"
        "\tq->jitter = min_t(s64, abs(q->jitter), INT_MAX);\n\n\tunlock();\n"
    ),
    "kernel/sys.c": "\t\telse\n\t\t\tcurrent->timer_slack_ns = arg2;\n\t\tbreak;\n",
    "include/linux/random.h": "u32 get_random_u32(void);\n\n#endif /* _LINUX_RANDOM_H */\n",
    "include/linux/once.h": (
        "#define get_random_once(buf, nbytes)\t\t\t\t\t     \\\n\tDO_ONCE(get_random_bytes, (buf), (nbytes))\n\n"
        "#define get_random_sleepable_once(buf, nbytes)\t\t\t\t     \\\n"
        "\tDO_ONCE_SLEEPABLE(get_random_bytes, (buf), (nbytes))\n\n#endif /* _LINUX_ONCE_H */\n"
    ),
    "net/Makefile": "#\n\nobj-y\t\t\t\t:= devres.o socket.o core/\n\nobj-y += ethernet/\n",
    "net/ipv4/route.c": '\tidents_hash = alloc("IP idents",\n\t\t\t\t      &mask,\n\t\t\t\t      2048,\n\t\t\t\t      256*1024);\n',
    "net/ipv4/tcp_output.c": (
        "\t\tif (!tcp_accecn_ace_fail_recv(tp) &&\n\t\t    !tcp_accecn_ace_fail_send(tp))\n\t\t\tINET_ECN_xmit(sk);\n"
        "\t\telse\n\t\t\tINET_ECN_dontxmit(sk);\n\t\t\tINET_ECN_xmit(sk);\n"
    ),
    "net/ipv4/Kconfig": 'config TCP_CONG_DCTCP\n\ttristate\n\nconfig TCP_CONG_BBR\n\ttristate "BBR TCP"\n',
    "net/ipv4/Makefile": "obj-$(CONFIG_TCP_CONG_BBR) += tcp_bbr.o\nobj-$(CONFIG_TCP_CONG_CUBIC) += tcp_cubic.o\n",
}


@pytest.fixture
def places() -> dict[str, str]:
    """Texts of the files of a kernel source that netlab changes, by path."""
    return dict(PLACES)
