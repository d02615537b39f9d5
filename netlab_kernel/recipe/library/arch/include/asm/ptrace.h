/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_NETLAB_PTRACE_H
#define _ASM_NETLAB_PTRACE_H
#include <uapi/asm/ptrace.h>
#ifndef __ASSEMBLER__
struct pt_regs { unsigned long ip, sp, nr, ret; };
#define user_mode(regs) 0
#define instruction_pointer(regs) ((regs)->ip)
#define user_stack_pointer(regs) ((regs)->sp)
#define kernel_stack_pointer(regs) ((regs)->sp)
#define instruction_pointer_set(regs, v) ((regs)->ip = (v))
#define profile_pc(regs) ((regs)->ip)
static inline int regs_irqs_disabled(struct pt_regs *regs) { return 1; }
#endif
#endif
