/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_NETLAB_LINKAGE_H
#define _ASM_NETLAB_LINKAGE_H
#ifdef __wasm__
/* WebAssembly has no addresses of instructions, and no aliases between functions of different types. */
#define _THIS_IP_ ({ static const char __here; (unsigned long)&__here; })
#define __builtin_return_address(n) ((void *)0)
#define cond_syscall(x)
#endif
#endif
