// SPDX-License-Identifier: GPL-2.0
/*
 * The program around the library kernel: it reads what to build and send from standard input, lets the kernel do it, and
 * writes what was measured to standard output (protocol.h). It is one run: it starts, answers and ends.
 *
 * Usage: netlab-library PARENT_PID
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include "kernel.h"
#include "protocol.h"

#define MEMORY_AT ((void *)0x100000000UL)	/* the kernel's PAGE_OFFSET */
#define LARGEST_FRAME (64u << 20)
#define HORIZON_S 200000ULL			/* more than two days: no run is longer than one */
#define LOOK_S 5				/* CPU time between two looks at the clock */
#define LOOKS 6					/* so many without a change: network time has stopped */

static char said[2048];				/* the kernel's last words */
static size_t said_bytes;
static unsigned char pending[1 << 16];
static size_t pending_bytes;
static unsigned int confined;
static struct start start;
uint64_t realtime_ahead_ns;		/* CLOCK_REALTIME less CLOCK_MONOTONIC */

static void write_all(const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t done = write(STDOUT_FILENO, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(3);	/* nobody listens any more */
		at += done;
		bytes -= done;
	}
}

static void flush(void)
{
	size_t bytes = pending_bytes;

	pending_bytes = 0;
	write_all(pending, bytes);
}

void answer(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes)
{
	struct frame frame = { kind, head_bytes + tail_bytes };
	size_t bytes = sizeof(frame) + frame.length;

	if (pending_bytes + bytes > sizeof(pending))
		flush();
	if (bytes > sizeof(pending)) {
		write_all(&frame, sizeof(frame));
		write_all(head, head_bytes);
		write_all(tail, tail_bytes);
		return;
	}
	memcpy(pending + pending_bytes, &frame, sizeof(frame));
	pending_bytes += sizeof(frame);
	memcpy(pending + pending_bytes, head, head_bytes);
	pending_bytes += head_bytes;
	if (tail_bytes)
		memcpy(pending + pending_bytes, tail, tail_bytes);
	pending_bytes += tail_bytes;
}

/* The last frame: also from a signal handler, so without stdio and without what was pending. */
static void __attribute__((noreturn)) last_words(const char *text, int with_log)
{
	size_t length = strlen(text), log_bytes = with_log ? said_bytes : 0;
	struct frame frame = { ANSWER_FAILED, length + log_bytes };

	write_all(&frame, sizeof(frame));
	write_all(text, length);
	write_all(said, log_bytes);
	_exit(1);
}

void fail(const char *format, ...)
{
	static char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	last_words(text, 0);
}

long must(long result, const char *doing)
{
	if (result < 0)
		fail("The library kernel could not %s: %s.", doing, strerror(-result));
	return result;
}

void *allocate(size_t bytes)
{
	void *found = calloc(1, bytes);

	if (!found)
		fail("There is no memory left for the run's books (%zu bytes were asked for).", bytes);
	return found;
}

void host_print(const char *text, unsigned int length)
{
	if (length > sizeof(said) / 2)
		length = sizeof(said) / 2;
	if (said_bytes + length > sizeof(said)) {
		size_t dropped = said_bytes + length - sizeof(said);

		memmove(said, said + dropped, said_bytes - dropped);
		said_bytes -= dropped;
	}
	memcpy(said + said_bytes, text, length);
	said_bytes += length;
}

void host_panic(void)
{
	last_words("The library kernel stopped itself. Its last words were:\n", 1);
}

void host_stuck(void)
{
	fail("All of the network sleeps and nothing is left that would wake it (after %.3f s of network time).",
	     (double)now_ns() / NS_PER_S);
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
		snprintf(text, sizeof(text), "The library kernel's program asked for the system call %d, which it must not.\n",
			 info->si_syscall);
	else
		snprintf(text, sizeof(text), "The library kernel crashed: %s at the address %p, in the code at %#lx.\n",
			 strsignal(number), info->si_addr, pc);
	last_words(text, 1);
}

/* Time that stands still for half a minute of computing will not go on: something waits by looking at the clock, or
 * sends without end over a path without a rate.
 */
static void on_look(int number)
{
	static unsigned long long jumps_before;
	static int looks;

	(void)number;
	if (library_jumps != jumps_before) {
		jumps_before = library_jumps;
		looks = 0;
	} else if (++looks == LOOKS) {
		last_words("Network time stands still: something in the run computes without end, such as a sender on a path "
			   "without a rate. Give the path a rate, or the flow a number of bytes.", 0);
	}
}

static void guard(void)
{
	static unsigned char stack[1 << 16];
	const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS };
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction crash = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND };
	struct sigaction look = { .sa_handler = on_look, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval every = { { LOOK_S, 0 }, { LOOK_S, 0 } };

	/* The kernel's threads have small stacks: signals need one of their own. */
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &crash, NULL);
	sigaction(SIGPROF, &look, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
}

static void read_all(void *data, size_t bytes)
{
	char *at = data;

	while (bytes) {
		ssize_t done = read(STDIN_FILENO, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(2);	/* whoever started the run is gone */
		at += done;
		bytes -= done;
	}
}

/* The next request; the payload is valid until the next call and is followed by a zero. */
static uint32_t next_request(unsigned char **payload, uint32_t *bytes)
{
	static unsigned char *room;
	static size_t room_bytes;
	struct frame frame;

	read_all(&frame, sizeof(frame));
	if (frame.length > LARGEST_FRAME)
		fail("A request of %u bytes is more than the %u that are allowed.", frame.length, LARGEST_FRAME);
	if (frame.length + 1 > room_bytes) {
		room_bytes = frame.length + 4096;
		room = realloc(room, room_bytes);
		if (!room)
			fail("There is no memory left for a request of %u bytes.", frame.length);
	}
	read_all(room, frame.length);
	room[frame.length] = 0;
	*payload = room;
	*bytes = frame.length;
	return frame.kind;
}

static void need(uint32_t kind, uint32_t bytes, size_t least)
{
	if (bytes < least)
		fail("Request %u has %u bytes and needs %zu: the program and its kernel are of different versions.", kind, bytes,
		     least);
}

static void send_done(void)
{
	struct done done = { now_ns(), library_jumps, confined, origin_ns + realtime_ahead_ns };
	/* struct new_utsname: six fields of 65 bytes. */
	char names[6][65] = { { 0 } };

	must(call(uname, names), "tell its release");
	answer(ANSWER_DONE, &done, sizeof(done), names[2], strlen(names[2]));
	flush();
	_exit(0);
}

static void tell_now(void)
{
	/* Time has begun a little before the origin. */
	uint64_t now[2] = { now_ns() > origin_ns ? now_ns() - origin_ns : 0, origin_ns + realtime_ahead_ns };

	answer(ANSWER_NOW, now, sizeof(now), NULL, 0);
	flush();
}

static void tell_sizes(void)
{
	static const uint32_t sizes[] = SIZES;

	answer(ANSWER_SIZES, sizes, sizeof(sizes), NULL, 0);
	flush();
}

/* What a network in which time has begun can be asked. */
static void serve(uint32_t kind, const unsigned char *payload, uint32_t bytes)
{
	switch (kind) {
	case REQUEST_BEGIN:
		need(kind, bytes, sizeof(struct go));
		begin_traffic((const struct go *)payload);
		break;
	case REQUEST_ADVANCE:
		need(kind, bytes, sizeof(struct advance));
		advance_traffic((const struct advance *)payload);
		break;
	case REQUEST_STOP:
		need(kind, bytes, sizeof(uint32_t));
		stop_item(*(const uint32_t *)payload);
		break;
	case REQUEST_UNTAP:
		need(kind, bytes, sizeof(uint32_t));
		close_tap(*(const uint32_t *)payload);
		break;
	case REQUEST_TABLES:
		tell_tables();
		break;
	case REQUEST_FINISH:
		need(kind, bytes, sizeof(uint64_t));
		finish_traffic(*(const uint64_t *)payload);
		break;
	default:
		fail("The request %u is not known: the program and its kernel are of different versions.", kind);
	}
	tell_now();
}

/* The kernel's first process. */
void host_main(void)
{
	unsigned char *payload;
	uint32_t bytes, kind;

	prepare_control();
	for (;;) {
		kind = next_request(&payload, &bytes);
		switch (kind) {
		case REQUEST_NODE:
			add_node();
			break;
		case REQUEST_ENTER:
			need(kind, bytes, sizeof(uint32_t));
			enter_node(*(uint32_t *)payload);
			break;
		case REQUEST_NETLINK:
			send_netlink(payload, bytes);
			break;
		case REQUEST_SETTING:
			need(kind, bytes, 2);
			write_setting((char *)payload, (char *)payload + strlen((char *)payload) + 1);
			break;
		case REQUEST_WAIT:
			wait_for((char *)payload);
			break;
		case REQUEST_QUEUE:
			need(kind, bytes, sizeof(struct sampled));
			add_queue((struct sampled *)payload);
			break;
		case REQUEST_TAP:
			need(kind, bytes, sizeof(struct tap));
			add_tap((struct tap *)payload);
			break;
		case REQUEST_AT:
			need(kind, bytes, sizeof(struct at));
			add_batch((struct at *)payload, payload + sizeof(struct at), bytes - sizeof(struct at));
			break;
		case REQUEST_UNTIL:
			need(kind, bytes, sizeof(uint64_t));
			sleep_until(*(uint64_t *)payload);
			break;
		case REQUEST_SEED:
			need(kind, bytes, sizeof(uint64_t));
			network_seed(*(uint64_t *)payload);
			break;
		case REQUEST_FLOW:
			need(kind, bytes, sizeof(struct flow));
			add_flow((struct flow *)payload, (char *)payload + sizeof(struct flow));
			break;
		case REQUEST_GO:
			need(kind, bytes, sizeof(struct go));
			run_traffic((struct go *)payload);
			send_done();
			break;
		case REQUEST_SIZES:
			tell_sizes();
			break;
		default:
			serve(kind, payload, bytes);
		}
	}
}

static void *kernel_memory(size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	/* Without MAP_FIXED the address is only asked for, and what is there stays. */
	void *memory = mmap(MEMORY_AT, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (memory != MEMORY_AT)
		fail("The library kernel needs %zu MB of addresses at %p, which this machine did not give (%s). "
		     "Allow the process more memory (ulimit -v).",
		     bytes >> 20, MEMORY_AT, memory == MAP_FAILED ? strerror(errno) : "another place was offered");
	/* Booting writes to the kernel's map of all its pages, with a page fault for each 64 of them; and packets that wait
	 * lie in more pages than a processor remembers the places of.
	 */
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

int main(int count, char **words)
{
	struct library_boot boot = { 0 };
	struct rlimit none = { 0, 0 };
	unsigned char *payload;
	uint32_t bytes, kind;

	if (count != 2) {
		fprintf(stderr, "usage: netlab-library PARENT_PID (netlab starts it; requests come on standard input)\n");
		return 2;
	}
	die_with(atol(words[1]));
	setrlimit(RLIMIT_CORE, &none);
	guard();
	kind = next_request(&payload, &bytes);
	if (kind != REQUEST_START)
		fail("The first request must be the start (1), not %u.", kind);
	need(kind, bytes, sizeof(start));
	start = *(struct start *)payload;
	boot.memory = kernel_memory(start.memory_bytes);
	boot.memory_bytes = start.memory_bytes;
	boot.seed = start.seed;
	boot.start_s = start.start_s;
	realtime_ahead_ns = start.start_s * NS_PER_S;
	boot.command_line = "quiet";
	library_horizon_ns = HORIZON_S * NS_PER_S;
	confined = confine();
	library_boot(&boot);
	return 1;
}
