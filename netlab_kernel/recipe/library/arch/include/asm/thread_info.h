/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_NETLAB_THREAD_INFO_H
#define _ASM_NETLAB_THREAD_INFO_H
#include <linux/version.h>
#include <asm/page.h>
/* The stacks have 32 kB, because the host program's traffic runs on them, too. */
#define THREAD_SIZE_ORDER 3
#define THREAD_SIZE (PAGE_SIZE << THREAD_SIZE_ORDER)
#ifndef __ASSEMBLER__
struct thread_info {
	unsigned long flags;
	int preempt_count;
	unsigned int cpu;
};
#define INIT_THREAD_INFO(t) { .flags = 0, .preempt_count = INIT_PREEMPT_COUNT, }
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define HAVE_TIF_RESTORE_SIGMASK
#include <asm-generic/thread_info_tif.h>
#else
#define TIF_NOTIFY_RESUME 0
#define TIF_SIGPENDING 1
#define TIF_NOTIFY_SIGNAL 2
#define TIF_MEMDIE 3
#define TIF_NEED_RESCHED 4
#define TIF_RESTORE_SIGMASK 10
#define _TIF_NOTIFY_RESUME BIT(TIF_NOTIFY_RESUME)
#define _TIF_SIGPENDING BIT(TIF_SIGPENDING)
#define _TIF_NOTIFY_SIGNAL BIT(TIF_NOTIFY_SIGNAL)
#define _TIF_NEED_RESCHED BIT(TIF_NEED_RESCHED)
#endif
#define TIF_SYSCALL_TRACE 16
#define _TIF_SYSCALL_TRACE BIT(TIF_SYSCALL_TRACE)
#endif
