#define NETLAB_STUB_LOOKS 5000	/* about 0.1 ms */

/* Tell the kernel that this process needs it, and wait for its answer. Returns 0 or an error of the host's futex(). */
static __always_inline long netlab_wait_for_kernel(struct stub_data *d)
{
	long res = 0;
	int looks = 0;

	__atomic_store_n(&d->futex, FUTEX_IN_KERN, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&d->kernel_sleeps, __ATOMIC_SEQ_CST))
		do
			res = stub_syscall3(__NR_futex, (unsigned long)&d->futex, FUTEX_WAKE, 1);
		while (res == -EINTR);

	while (__atomic_load_n(&d->futex, __ATOMIC_ACQUIRE) == FUTEX_IN_KERN) {
		if (__atomic_load_n(&d->stub_looks, __ATOMIC_RELAXED) && looks++ < NETLAB_STUB_LOOKS) {
			__builtin_ia32_pause();
			continue;
		}
		__atomic_store_n(&d->stub_sleeps, 1, __ATOMIC_SEQ_CST);
		res = stub_syscall4(__NR_futex, (unsigned long)&d->futex, FUTEX_WAIT, FUTEX_IN_KERN, 0);
		__atomic_store_n(&d->stub_sleeps, 0, __ATOMIC_SEQ_CST);
		if (res < 0 && res != -EINTR && res != -EAGAIN)
			return res;
	}
	return 0;
}

