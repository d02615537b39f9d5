/* SPDX-License-Identifier: GPL-2.0 */
#define __ARCH_WANT_SYS_CLONE
#include <uapi/asm/unistd.h>
#define NR_syscalls __NR_syscalls
