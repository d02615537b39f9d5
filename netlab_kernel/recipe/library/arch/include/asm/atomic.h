/* SPDX-License-Identifier: GPL-2.0 */
/* One CPU and nothing that interrupts it: a plain operation is atomic. */
#ifndef _ASM_NETLAB_ATOMIC_H
#define _ASM_NETLAB_ATOMIC_H
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#define ATOMIC64_INIT(i) { (i) }

#define PLAIN_OP(prefix, T, t, op, c_op)						\
static __always_inline void arch_##prefix##_##op(t i, T *v)				\
{											\
	WRITE_ONCE(v->counter, v->counter c_op i);					\
}
#define PLAIN_OP_RETURN(prefix, T, t, op, c_op)						\
static __always_inline t arch_##prefix##_##op##_return(t i, T *v)			\
{											\
	t after = READ_ONCE(v->counter) c_op i;						\
	WRITE_ONCE(v->counter, after);							\
	return after;									\
}
#define PLAIN_FETCH_OP(prefix, T, t, op, c_op)						\
static __always_inline t arch_##prefix##_fetch_##op(t i, T *v)				\
{											\
	t before = READ_ONCE(v->counter);						\
	WRITE_ONCE(v->counter, before c_op i);						\
	return before;									\
}
#define PLAIN_OPS(prefix, T, t)								\
	PLAIN_OP(prefix, T, t, add, +) PLAIN_OP(prefix, T, t, sub, -)			\
	PLAIN_OP(prefix, T, t, and, &) PLAIN_OP(prefix, T, t, or, |)			\
	PLAIN_OP(prefix, T, t, xor, ^)							\
	PLAIN_OP_RETURN(prefix, T, t, add, +) PLAIN_OP_RETURN(prefix, T, t, sub, -)	\
	PLAIN_FETCH_OP(prefix, T, t, add, +) PLAIN_FETCH_OP(prefix, T, t, sub, -)	\
	PLAIN_FETCH_OP(prefix, T, t, and, &) PLAIN_FETCH_OP(prefix, T, t, or, |)	\
	PLAIN_FETCH_OP(prefix, T, t, xor, ^)

PLAIN_OPS(atomic, atomic_t, int)
PLAIN_OPS(atomic64, atomic64_t, s64)
#undef PLAIN_OP
#undef PLAIN_OP_RETURN
#undef PLAIN_FETCH_OP
#undef PLAIN_OPS

/* The generic code looks for macros of these names. */
#define arch_atomic_add_return arch_atomic_add_return
#define arch_atomic_sub_return arch_atomic_sub_return
#define arch_atomic_fetch_add arch_atomic_fetch_add
#define arch_atomic_fetch_sub arch_atomic_fetch_sub
#define arch_atomic_fetch_and arch_atomic_fetch_and
#define arch_atomic_fetch_or arch_atomic_fetch_or
#define arch_atomic_fetch_xor arch_atomic_fetch_xor
#define arch_atomic64_add_return arch_atomic64_add_return
#define arch_atomic64_sub_return arch_atomic64_sub_return
#define arch_atomic64_fetch_add arch_atomic64_fetch_add
#define arch_atomic64_fetch_sub arch_atomic64_fetch_sub
#define arch_atomic64_fetch_and arch_atomic64_fetch_and
#define arch_atomic64_fetch_or arch_atomic64_fetch_or
#define arch_atomic64_fetch_xor arch_atomic64_fetch_xor

#define arch_atomic_read(v) READ_ONCE((v)->counter)
#define arch_atomic_set(v, i) WRITE_ONCE(((v)->counter), (i))
#define arch_atomic64_read(v) READ_ONCE((v)->counter)
#define arch_atomic64_set(v, i) WRITE_ONCE(((v)->counter), (i))
#endif
