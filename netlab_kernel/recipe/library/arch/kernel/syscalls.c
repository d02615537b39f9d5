// SPDX-License-Identifier: GPL-2.0
/* System calls are function calls. Each is followed by the work that Linux does on the return to user space. */
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <linux/unistd.h>
#include <asm/host.h>

#undef __SYSCALL
#define __SYSCALL_WITH_COMPAT(nr, native, compat) __SYSCALL(nr, native)
/* The library kernel has no address spaces and no signal frames. */
#define library_sys_mmap library_sys_ni_syscall
#define library_sys_rt_sigreturn library_sys_ni_syscall

typedef long (*system_call)(long, long, long, long, long, long);

static long library_sys_ni_syscall(long a, long b, long c, long d, long e, long f) { return -ENOSYS; }
#define __SYSCALL(nr, call) extern long library_##call(long, long, long, long, long, long);
#include <asm/syscall_table_64.h>
#undef __SYSCALL
#define __SYSCALL(nr, call) [nr] = library_##call,
static const system_call system_calls[__NR_syscalls] = {
	[0 ... __NR_syscalls - 1] = library_sys_ni_syscall,
#include <asm/syscall_table_64.h>
};

long library_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number < 0 || number >= __NR_syscalls)
		return -ENOSYS;
	result = system_calls[number](a, b, c, d, e, f);
	if (unlikely(task_work_pending(current)))
		task_work_run();
	if (unlikely(need_resched()))
		schedule();
	return result;
}
