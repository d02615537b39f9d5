"""The edits of the kernel's source with which programs start and run faster in the pocket kernel."""

from netlab_engines.kernels.versions import Version
from netlab_kernel.edit import RECIPE, Edit

SINCE: Version = (7, 3)
"""The first Linux version whose source has the places of these edits."""


def faster_programs() -> list[Edit]:
    """Return the edits, all for Linux 7.3 or later, with which programs start and run faster in the pocket kernel,
    without any other effect.
    """
    return [
        *_second_cpu(),
        Edit(
            "arch/um/include/shared/skas/stub-data.h",
            r"(?m)^#define FUTEX_IN_KERN 1\n",
            "#define FUTEX_IN_KERN 1\n#define STUB_MEMORY_FD 1\n",
            "the guest's memory has a fixed descriptor in each process of the host",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/stub_exe.c",
            r"(?m)^\t\tres = stub_syscall3\(__NR_close_range, 1, ~0U, 0\);\n",
            "\t\tres = stub_syscall2(__NR_dup2, init_data.stub_data_fd, STUB_MEMORY_FD);\n"
            "\t\tif (res != STUB_MEMORY_FD)\n\t\t\tstub_syscall1(__NR_exit, 13);\n"
            "\t\tres = stub_syscall3(__NR_close_range, STUB_MEMORY_FD + 1, ~0U, 0);\n",
            "that descriptor stays open",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/mem.c",
            r"(?m)^\t/\* Find an FD slot \(or flush and use first\) \*/\n\tif \(!using_seccomp\)\n\t\treturn fd;\n",
            "\t/* All memory is one file, which the stub has open. */\n\treturn using_seccomp ? STUB_MEMORY_FD : fd;\n",
            "that descriptor is not sent with each page",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/mem.c",
            r"(?m)^\t\t\tprev_fd = mm_idp->syscall_fd_map\[sc->mem\.fd\];\n",
            "\t\t\tprev_fd = phys_fd;\n",
            "pages next to each other are mapped by one call",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/stub.c",
            r"(?ms)^\t\t/\* Read passed FDs \(if any\) \*/\n.*?^\t\tnum_fds = 0;\n.*?^\t\tres = syscall_handler\(fd_map\);\n",
            "\t\tfd_msg = NULL;\n\t\tfd_map = NULL;\n\t\tnum_fds = 0;\n\t\tres = syscall_handler(fd_map);\n",
            "no descriptor is read with each page",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/mmu.c",
            r"(?m)^int init_new_context\(struct task_struct \*task, struct mm_struct \*mm\)\n\{\n",
            (RECIPE / "idle_stubs.c").read_text(),
            "processes of the host are kept for the next program",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/mmu.c",
            r"(?m)^\tstack = __get_free_pages\(GFP_KERNEL \| __GFP_ZERO, ilog2\(STUB_DATA_PAGES\)\);\n",
            "\tif (netlab_take_stub(new_id)) {\n\t\tscoped_guard(spinlock_irqsave, &mm_list_lock)\n"
            "\t\t\tlist_add(&mm->context.list, &mm_list);\n\t\tunmap(new_id, 0, STUB_START);\n\t\treturn 0;\n\t}\n\n"
            "\tstack = __get_free_pages(GFP_KERNEL | __GFP_ZERO, ilog2(STUB_DATA_PAGES));\n",
            "a program takes one of these processes",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/mmu.c",
            r"(?m)^\t\tlist_del\(&mm->context\.list\);\n",
            "\t\tlist_del(&mm->context.list);\n\n\tif (netlab_keep_stub(&mmu->id))\n\t\treturn;\n",
            "the process of a program that has ended is kept",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/mmu.c",
            r"(?m)^\t\tlist_for_each_entry\(mm_context, &mm_list, list\) \{\n",
            "\t\tif (netlab_forget_stub(pid))\n\t\t\tcontinue;\n\t\tlist_for_each_entry(mm_context, &mm_list, list) {\n",
            "an idle process that has died is not taken",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/stub.c",
            r"(?m)^\t\t\t\t\t    MAP_SHARED \| MAP_FIXED,\n",
            "\t\t\t\t\t    MAP_SHARED | MAP_FIXED | (sc->mem.prot & PROT_WRITE ? MAP_POPULATE : 0),\n",
            "pages to be written are there at once, which for pages to be read takes longer than the host's own page faults",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/mem.c",
            r"(?m)^\tfd = create_tmp_file\(len\);\n",
            (RECIPE / "memory_file.c").read_text(),
            "the guest's memory is not on a disk",
            SINCE,
        ),
        Edit(
            "arch/x86/um/syscalls_64.c",
            r"(?m)^\tif \(off & ~PAGE_MASK\)\n\t\treturn -EINVAL;\n\n\treturn ksys_mmap_pgoff\([^\n]*\n",
            (RECIPE / "eager_libraries.c").read_text(),
            "the parts of a library come with few page faults",
            SINCE,
        ),
        Edit(
            "arch/x86/um/syscalls_64.c",
            r"(?m)^#include <linux/syscalls\.h>\n",
            "#include <linux/mm.h>\n#include <linux/mman.h>\n#include <linux/syscalls.h>\n",
            "the names of mmap's flags are known",
            SINCE,
        ),
        Edit(
            "fs/hostfs/hostfs_kern.c",
            r"(?m)^static const struct file_operations hostfs_file_fops = \{\n",
            (RECIPE / "program_files.c").read_text() + "static const struct file_operations hostfs_file_fops = {\n",
            "the files of programs are in pages next to each other",
            SINCE,
        ),
        Edit(
            "fs/hostfs/hostfs_kern.c",
            r"(?m)^\t\.mmap_prepare\t= generic_file_mmap_prepare,\n",
            "\t.mmap_prepare\t= netlab_mmap_prepare,\n",
            "these pages are mapped together",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/trap.c",
            r"(?m)^/\*\n \* Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by\n",
            (RECIPE / "next_pages.c").read_text()
            + "/*\n * Note this is constrained to return 0, -EFAULT, -EACCES, -ENOMEM by\n",
            "pages can be filled before they are used",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/trap.c",
            r"(?m)^\t\} while \(!pte_present\(\*pte\)\);\n\terr = 0;\n",
            "\t} while (!pte_present(*pte));\n\tif (is_write)\n\t\tnetlab_fill_next_pages(vma, address);\n\terr = 0;\n",
            "a heap grows with few page faults",
            SINCE,
        ),
    ]


def _second_cpu() -> list[Edit]:
    """Return the edits with which a guest's kernel and a program's process of the host use two CPUs if both are
    free.
    """
    return [
        Edit(
            "arch/um/include/shared/skas/mm_id.h",
            r"(?m)^struct mm_id \{\n\tint pid;\n",
            "void netlab_forget_stub_data(unsigned long data);\n\n"
            "struct mm_id {\n\tint pid;\n\tint cpu;\t/* the number, plus 1, of the host's CPU to which it is bound, or 0 */\n",
            "the CPU of each process of the host is known",
            SINCE,
        ),
        Edit(
            "arch/um/include/shared/skas/stub-data.h",
            r"(?m)^\tunsigned int futex;\n",
            "\tunsigned int futex;\n\tunsigned int kernel_sleeps, stub_sleeps, stub_looks;\n",
            "each side knows whether the other sleeps",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/stub.c",
            r"(?m)^void __section\(\"\.__syscall_stub\"\)\nstub_signal_interrupt\(",
            (RECIPE / "stub_wait.c").read_text() + 'void __section(".__syscall_stub")\nstub_signal_interrupt(',
            "a program's process looks for the kernel's answer before it sleeps",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/stub.c",
            r"(?ms)^\td->futex = FUTEX_IN_KERN;\n.*?^\tif \(res < 0 && res != -EAGAIN\)\n",
            "\tres = netlab_wait_for_kernel(d);\n\tif (res < 0)\n",
            "that is how it waits",
            SINCE,
        ),
        Edit(
            "arch/um/kernel/skas/mmu.c",
            r"(?m)^(?=\tfree_pages\(mmu->id\.stack, ilog2\(STUB_DATA_PAGES\)\);\n)",
            "\tnetlab_forget_stub_data(mmu->id.stack);\n",
            "memory that is freed is not used again",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/process.c",
            r"(?m)^#include <sched\.h>\n",
            "#include <sched.h>\n#include <time.h>\n",
            "clocks of the host can be read",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/process.c",
            r"(?m)^void wait_stub_done_seccomp\(struct mm_id \*mm_idp, int running, int wait_sigsys\)\n",
            (RECIPE / "two_cpus.c").read_text()
            + "void wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)\n",
            "the kernel looks for a system call before it sleeps",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/process.c",
            r"(?m)^\t\t\tdata->futex = FUTEX_IN_CHILD;\n\t\t\tCATCH_EINTR\(syscall\(__NR_futex, &data->futex,\n[^;]*;\n",
            "\t\t\tnetlab_resume_stub(mm_idp, data);\n",
            "that is how it lets a program continue",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/process.c",
            r"(?m)^\t\t\tret = syscall\(__NR_futex, &data->futex,\n\t\t\t\t      FUTEX_WAIT, FUTEX_IN_CHILD,\n[^;]*;\n",
            "\t\t\tret = netlab_wait_for_stub(mm_idp, data);\n",
            "that is how it waits",
            SINCE,
        ),
        Edit(
            "arch/um/os-Linux/skas/process.c",
            r"(?m)^\tif \(using_seccomp\) \{\n(?=\t\twait_stub_done_seccomp\(mm_id, 1, 1\);\n)",
            "\tmm_id->cpu = 0;\n\tif (using_seccomp) {\n\t\tnetlab_move_stub(mm_id);\n",
            "a new process of the host runs on the CPU of the others",
            SINCE,
        ),
    ]
