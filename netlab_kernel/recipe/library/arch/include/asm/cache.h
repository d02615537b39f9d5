/* SPDX-License-Identifier: GPL-2.0 */
/* As in the User-Mode kernel: the sizes of socket buffers follow from it, and from them how much a sender may queue. */
#ifndef _ASM_NETLAB_CACHE_H
#define _ASM_NETLAB_CACHE_H
#define L1_CACHE_SHIFT 6
#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)
#endif
