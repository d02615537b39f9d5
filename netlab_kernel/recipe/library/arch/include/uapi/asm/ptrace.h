/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_ASM_NETLAB_PTRACE_H
#define _UAPI_ASM_NETLAB_PTRACE_H
#ifndef __ASSEMBLER__
struct user_regs_struct { unsigned long regs[4]; };
#endif
#endif
