/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_NETLAB_PROCESSOR_H
#define _ASM_NETLAB_PROCESSOR_H
#ifndef __ASSEMBLER__
struct task_struct;
struct pt_regs;
#define TASK_SIZE (~0UL)
#define TASK_UNMAPPED_BASE 0
#define STACK_TOP TASK_SIZE
#define STACK_TOP_MAX TASK_SIZE
struct thread_struct {
	void *sp;
	int (*function)(void *);
	void *argument;
};
#define INIT_THREAD { }
#define cpu_relax() barrier()
static inline unsigned long __get_wchan(struct task_struct *p) { return 0; }
#define task_pt_regs(t) ((struct pt_regs *)((char *)task_stack_page(t) + THREAD_SIZE) - 1)
#define KSTK_EIP(t) 0UL
#define KSTK_ESP(t) 0UL
static inline void start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp) { }
#endif
#endif
