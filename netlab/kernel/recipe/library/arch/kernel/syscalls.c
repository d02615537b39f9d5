// SPDX-License-Identifier: GPL-2.0
/* System calls are function calls. What the way back to user space would do is done after each. */
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <linux/unistd.h>
#include <asm/host.h>

#undef __SYSCALL
#define __SYSCALL(nr, call) [nr] = (void *)(call),
#define __SYSCALL_WITH_COMPAT(nr, native, compat) __SYSCALL(nr, native)
/* Those of an address space and of a signal frame make no sense here. */
#define sys_mmap sys_ni_syscall
#define sys_rt_sigreturn sys_ni_syscall

static void *const system_calls[__NR_syscalls] = {
	[0 ... __NR_syscalls - 1] = sys_ni_syscall,
#include <asm/syscall_table_64.h>
};

typedef long (*system_call)(long, long, long, long, long, long);

long library_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number < 0 || number >= __NR_syscalls)
		return -ENOSYS;
	result = ((system_call)system_calls[number])(a, b, c, d, e, f);
	if (unlikely(task_work_pending(current)))
		task_work_run();
	if (unlikely(need_resched()))
		schedule();
	return result;
}
