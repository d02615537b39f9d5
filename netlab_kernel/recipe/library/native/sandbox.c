// SPDX-License-Identifier: GPL-2.0
/* The sandbox of the program: before a run it gives up access to files (Landlock) and most system calls (seccomp). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These are in linux/landlock.h, which older C libraries lack. */
#define CREATE_RULESET 444
#define RESTRICT_SELF 446
#define QUERY_VERSION 1
struct ruleset {
	uint64_t handled_access_fs, handled_access_net, scoped;
};

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define ALLOW(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

void exit_with_parent(long parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* The parent may have died before the call. */
	if (getppid() != parent)
		_exit(2);
}

/* Forbid to open, make or remove any file: handle all rights of Landlock's version and grant none. Returns 0 if the machine cannot. */
static int restrict_files(void)
{
	static const uint64_t rights[] = { 0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1 };
	long version = syscall(CREATE_RULESET, NULL, 0, QUERY_VERSION);
	struct ruleset ruleset = { 0 };
	size_t size = sizeof(ruleset.handled_access_fs);
	long descriptor;

	if (version < 1)
		return 0;
	ruleset.handled_access_fs = version >= 5 ? (1 << 16) - 1 : rights[version];
	if (version >= 4) {
		ruleset.handled_access_net = 3;
		size += sizeof(ruleset.handled_access_net);
	}
	if (version >= 6) {
		ruleset.scoped = 3;
		size += sizeof(ruleset.scoped);
	}
	descriptor = syscall(CREATE_RULESET, &ruleset, size, 0);
	if (descriptor < 0)
		return 0;
	if (syscall(RESTRICT_SELF, descriptor, 0) < 0)
		descriptor = -1;
	return descriptor >= 0;
}

/* Allow only the system calls to read requests, write answers, manage memory, handle signals and exit. */
static int filter_system_calls(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(mremap),
		ALLOW(munmap),
		ALLOW(madvise),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(restart_syscall),
		ALLOW(exit),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Restrict the program as far as the machine can. Returns CONFINED_FILES (1) and CONFINED_CALLS (2) if they took effect. */
unsigned int confine(void)
{
	unsigned int found = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 0;
	if (restrict_files())
		found |= 1;
	if (filter_system_calls())
		found |= 2;
	return found;
}
