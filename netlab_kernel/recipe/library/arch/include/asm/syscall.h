/* SPDX-License-Identifier: GPL-2.0 */
/* System calls are function calls (kernel/syscalls.c), so there are no saved registers. */
#ifndef _ASM_NETLAB_SYSCALL_H
#define _ASM_NETLAB_SYSCALL_H
#include <linux/err.h>
#include <uapi/linux/audit.h>
struct task_struct;
struct pt_regs;
static inline int syscall_get_nr(struct task_struct *t, struct pt_regs *r) { return -1; }
static inline void syscall_set_nr(struct task_struct *t, struct pt_regs *r, int nr) { }
static inline void syscall_rollback(struct task_struct *t, struct pt_regs *r) { }
static inline long syscall_get_error(struct task_struct *t, struct pt_regs *r) { return 0; }
static inline long syscall_get_return_value(struct task_struct *t, struct pt_regs *r) { return 0; }
static inline void syscall_set_return_value(struct task_struct *t, struct pt_regs *r, int error, long value) { }
static inline void syscall_get_arguments(struct task_struct *t, struct pt_regs *r, unsigned long *args) { }
static inline void syscall_set_arguments(struct task_struct *t, struct pt_regs *r, const unsigned long *args) { }
static inline int syscall_get_arch(struct task_struct *t) { return AUDIT_ARCH_X86_64; }
#endif
