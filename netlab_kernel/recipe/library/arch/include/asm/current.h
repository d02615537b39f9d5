/* SPDX-License-Identifier: GPL-2.0 */
/* With one CPU the running task is one variable. */
#ifndef _ASM_NETLAB_CURRENT_H
#define _ASM_NETLAB_CURRENT_H
#ifndef __ASSEMBLER__
struct task_struct;
extern struct task_struct *library_current;
#define get_current() library_current
#define current library_current
#endif
#endif
