// SPDX-License-Identifier: GPL-2.0
/*
 * The program as a process: it reads requests from standard input, writes answers to standard output, and reports crashes by
 * signal handlers.
 *
 * Usage: netlab-library PARENT_PID
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include "../host/kernel.h"

#define MEMORY_AT ((void *)0x100000000UL)	/* the kernel's PAGE_OFFSET */
#define CHECK_INTERVAL_S 5			/* CPU time between two checks of the clock */
#define MAX_CHECKS_WITHOUT_PROGRESS 6		/* then network time counts as stopped */

void machine_exit(int status)
{
	_exit(status);
}

void machine_write(const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t done = write(STDOUT_FILENO, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(3);	/* the reader of the answers is gone */
		at += done;
		bytes -= done;
	}
}

void machine_read(void *data, size_t bytes)
{
	char *at = data;

	while (bytes) {
		ssize_t done = read(STDIN_FILENO, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(2);	/* the process that started the run is gone */
		at += done;
		bytes -= done;
	}
}

void *machine_memory(size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	/* Without MAP_FIXED the address is only a hint, so an existing mapping is not replaced. */
	void *memory = mmap(MEMORY_AT, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (memory != MEMORY_AT)
		fail("The library kernel needs %zu MB of addresses at %p, which this machine did not give (%s). "
		     "Allow the process more memory (ulimit -v).",
		     bytes >> 20, MEMORY_AT, memory == MAP_FAILED ? strerror(errno) : "another place was offered");
	/* Booting writes to the kernel's map of all its pages, with a page fault for each 64 of them; and the packets in queues fill
	 * more pages than the processor's TLB holds.
	 */
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	static char text[256];
	unsigned long pc = 0;

#if defined(__x86_64__)
	pc = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	pc = ((ucontext_t *)context)->uc_mcontext.pc;
#endif
	if (number == SIGSYS)
		snprintf(text, sizeof(text), "The library kernel's program made the system call %d, which its sandbox forbids.\n",
			 info->si_syscall);
	else
		snprintf(text, sizeof(text), "The library kernel crashed: %s at the address %p, in the code at %#lx.\n",
			 strsignal(number), info->si_addr, pc);
	send_failure(text, 1);
}

/* End the program if the clock has not moved in half a minute of computing: something polls the clock, or sends without end over
 * a path without a rate.
 */
static void on_check_timer(int number)
{
	static unsigned long long jumps_before;
	static int checks;

	(void)number;
	if (library_jumps != jumps_before) {
		jumps_before = library_jumps;
		checks = 0;
	} else if (++checks == MAX_CHECKS_WITHOUT_PROGRESS) {
		send_failure("Network time stands still: something in the run computes without end, such as a sender on a path "
			   "without a rate. Give the path a rate, or the flow a number of bytes.", 0);
	}
}

static void install_signal_handlers(void)
{
	static unsigned char stack[1 << 16];
	const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS };
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction crash = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND };
	struct sigaction check = { .sa_handler = on_check_timer, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval every = { { CHECK_INTERVAL_S, 0 }, { CHECK_INTERVAL_S, 0 } };

	/* Signal handlers need a stack of their own, because the kernel's threads have small stacks. */
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &crash, NULL);
	sigaction(SIGPROF, &check, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
}

int main(int count, char **words)
{
	struct rlimit none = { 0, 0 };

	if (count != 2) {
		fprintf(stderr, "usage: netlab-library PARENT_PID (netlab starts it; requests come on standard input)\n");
		return 2;
	}
	exit_with_parent(atol(words[1]));
	setrlimit(RLIMIT_CORE, &none);
	install_signal_handlers();
	host_run();
}
