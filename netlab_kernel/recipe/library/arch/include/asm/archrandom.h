/* SPDX-License-Identifier: GPL-2.0 */
/* All randomness follows from the seed that the host program gives, so that equal seeds give equal runs. */
#ifndef _ASM_NETLAB_ARCHRANDOM_H
#define _ASM_NETLAB_ARCHRANDOM_H
#include <asm/host.h>

static inline size_t __must_check arch_get_random_longs(unsigned long *v, size_t max_longs)
{
	return library_random_longs(v, max_longs);
}

static inline size_t __must_check arch_get_random_seed_longs(unsigned long *v, size_t max_longs)
{
	return library_random_longs(v, max_longs);
}
#endif
