/* SPDX-License-Identifier: GPL-2.0 */
/* Each system call is a function of six longs, because WebAssembly checks the type of a function called by a pointer. */
#ifndef _ASM_NETLAB_SYSCALL_WRAPPER_H
#define _ASM_NETLAB_SYSCALL_WRAPPER_H
#define LIBRARY_CALL(name) library_##name(long a, long b, long c, long d, long e, long f)
#define __LIBRARY_ARG1(t1) (__force t1)a
#define __LIBRARY_ARG2(t1, t2) __LIBRARY_ARG1(t1), (__force t2)b
#define __LIBRARY_ARG3(t1, t2, t3) __LIBRARY_ARG2(t1, t2), (__force t3)c
#define __LIBRARY_ARG4(t1, t2, t3, t4) __LIBRARY_ARG3(t1, t2, t3), (__force t4)d
#define __LIBRARY_ARG5(t1, t2, t3, t4, t5) __LIBRARY_ARG4(t1, t2, t3, t4), (__force t5)e
#define __LIBRARY_ARG6(t1, t2, t3, t4, t5, t6) __LIBRARY_ARG5(t1, t2, t3, t4, t5), (__force t6)f
#define __LIBRARY_ARGS(x, ...) __LIBRARY_ARG##x(__VA_ARGS__)

#define __SYSCALL_DEFINEx(x, name, ...)						\
	long LIBRARY_CALL(sys##name);						\
	static inline long __do_sys##name(__MAP(x,__SC_DECL,__VA_ARGS__));	\
	long LIBRARY_CALL(sys##name)						\
	{									\
		return __do_sys##name(__LIBRARY_ARGS(x,				\
			__MAP(x,__SC_TYPE,__VA_ARGS__)));			\
	}									\
	static inline long __do_sys##name(__MAP(x,__SC_DECL,__VA_ARGS__))
#define SYSCALL_DEFINE0(sname)							\
	long LIBRARY_CALL(sys_##sname);						\
	static inline long __do_sys_##sname(void);				\
	long LIBRARY_CALL(sys_##sname) { return __do_sys_##sname(); }		\
	static inline long __do_sys_##sname(void)
#define COND_SYSCALL(name)							\
	__weak long LIBRARY_CALL(sys_##name);					\
	__weak long LIBRARY_CALL(sys_##name) { return -ENOSYS; }
#define COND_SYSCALL_COMPAT(name)
#endif
