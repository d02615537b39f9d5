/* SPDX-License-Identifier: GPL-2.0 */
/* The same length as in User-Mode Linux, because the sizes of socket buffers follow from it, and with them what a sender may queue. */
#ifndef _ASM_NETLAB_CACHE_H
#define _ASM_NETLAB_CACHE_H
#define L1_CACHE_SHIFT 6
#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)
#endif
