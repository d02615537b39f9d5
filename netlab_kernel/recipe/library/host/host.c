// SPDX-License-Identifier: GPL-2.0
/*
 * The program around the library kernel. It reads requests from standard input, lets the kernel carry them out, and writes
 * measurements to standard output (protocol.h). A process serves one run and ends. native/machine.c and wasm/machine.c have
 * the parts that depend on the platform.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "protocol.h"
#include "wire_format.h"

#define MAX_FRAME_BYTES (64u << 20)
#define MAX_REPLY_BYTES (1u << 20)
#define HORIZON_S 200000ULL			/* more than two days: no run is longer than one */

static char kernel_log[2048];				/* its latest lines */
static size_t kernel_log_bytes;
static unsigned char pending[1 << 16];
static size_t pending_bytes;
static unsigned int confined;
static struct start start;
uint64_t realtime_ahead_ns;		/* CLOCK_REALTIME less CLOCK_MONOTONIC */

static void flush(void)
{
	size_t bytes = pending_bytes;

	pending_bytes = 0;
	machine_write(pending, bytes);
}

void answer(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes)
{
	struct frame frame = { kind, head_bytes + tail_bytes };
	size_t bytes = sizeof(frame) + frame.length;

	if (pending_bytes + bytes > sizeof(pending))
		flush();
	if (bytes > sizeof(pending)) {
		machine_write(&frame, sizeof(frame));
		machine_write(head, head_bytes);
		machine_write(tail, tail_bytes);
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

/* Send the last frame and exit. A signal handler may call this, so it uses no stdio and leaves pending answers out. */
void send_failure(const char *text, int with_log)
{
	size_t length = strlen(text), log_bytes = with_log ? kernel_log_bytes : 0;
	struct frame frame = { ANSWER_FAILED, length + log_bytes };

	machine_write(&frame, sizeof(frame));
	machine_write(text, length);
	machine_write(kernel_log, log_bytes);
	machine_exit(1);
}

void fail(const char *format, ...)
{
	static char text[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	send_failure(text, 0);
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
		fail("There is no memory left for the run's counters (%zu bytes were asked for).", bytes);
	return found;
}

void host_print(const char *text, unsigned int length)
{
	if (length > sizeof(kernel_log) / 2)
		length = sizeof(kernel_log) / 2;
	if (kernel_log_bytes + length > sizeof(kernel_log)) {
		size_t dropped = kernel_log_bytes + length - sizeof(kernel_log);

		memmove(kernel_log, kernel_log + dropped, kernel_log_bytes - dropped);
		kernel_log_bytes -= dropped;
	}
	memcpy(kernel_log + kernel_log_bytes, text, length);
	kernel_log_bytes += length;
}

void host_panic(void)
{
	send_failure("The library kernel stopped itself. Its log ends with:\n", 1);
}

void host_deadlock(void)
{
	/* The kernel's vsnprintf(), which WebAssembly uses, does not support %f. */
	unsigned long long ms = (now_ns() + NS_PER_MS / 2) / NS_PER_MS;

	fail("All of the network sleeps and nothing is left that would wake it (after %llu.%03llu s of network time).",
	     ms / 1000, ms % 1000);
}

/* Read the next request. The payload is valid until the next call and is followed by a zero. */
static uint32_t next_request(unsigned char **payload, uint32_t *bytes)
{
	static unsigned char *buffer;
	static size_t buffer_bytes;
	struct frame frame;

	machine_read(&frame, sizeof(frame));
	if (frame.length > MAX_FRAME_BYTES)
		fail("A request of %u bytes is more than the %u that are allowed.", frame.length, MAX_FRAME_BYTES);
	if (frame.length + 1 > buffer_bytes) {
		buffer_bytes = frame.length + 4096;
		buffer = realloc(buffer, buffer_bytes);
		if (!buffer)
			fail("There is no memory left for a request of %u bytes.", frame.length);
	}
	machine_read(buffer, frame.length);
	buffer[frame.length] = 0;
	*payload = buffer;
	*bytes = frame.length;
	return frame.kind;
}

/* Send a question and return the reply, which is valid until the next question. No network time passes meanwhile. */
const unsigned char *ask(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
			 size_t least, uint32_t *bytes)
{
	/* A buffer of its own, because the payload of the current request is still in use. */
	static unsigned char reply[MAX_REPLY_BYTES];
	struct frame frame;

	answer(kind, head, head_bytes, tail, tail_bytes);
	flush();
	machine_read(&frame, sizeof(frame));
	if (frame.kind != REQUEST_REPLY || frame.length < least || frame.length > sizeof(reply))
		fail("The reply to a question was request %u of %u bytes: the program and its kernel are of different versions.", frame.kind,
		     frame.length);
	machine_read(reply, frame.length);
	*bytes = frame.length;
	return reply;
}

void host_control(const struct library_state *state, struct library_control *control)
{
	struct library_state since = *state;
	uint32_t bytes;

	since.now_ns -= origin_ns;
	memcpy(control, ask(ANSWER_CONTROL, &since, sizeof(since), NULL, 0, sizeof(*control), &bytes), sizeof(*control));
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
	/* The layout is struct new_utsname: six fields of 65 bytes. */
	char names[6][65] = { { 0 } };

	must(call(uname, names), "report its release");
	answer(ANSWER_DONE, &done, sizeof(done), names[2], strlen(names[2]));
	flush();
	machine_exit(0);
}

static void report_now(void)
{
	/* The clock is before the origin until the traffic begins. */
	uint64_t now[2] = { now_ns() > origin_ns ? now_ns() - origin_ns : 0, origin_ns + realtime_ahead_ns };

	answer(ANSWER_NOW, now, sizeof(now), NULL, 0);
	flush();
}

static void report_format(void)
{
	static const char format[] = WIRE_FORMAT;

	answer(ANSWER_FORMAT, format, sizeof(format) - 1, NULL, 0);
	flush();
}

/* Serve a request that needs a network whose traffic has begun, or is to begin. */
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
		report_tables();
		break;
	case REQUEST_FINISH:
		need(kind, bytes, sizeof(uint64_t));
		finish_traffic(*(const uint64_t *)payload);
		break;
	default:
		fail("The request %u is not known: the program and its kernel are of different versions.", kind);
	}
	report_now();
}

/* Serve requests, as the kernel's first process. */
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
		case REQUEST_FORMAT:
			report_format();
			break;
		default:
			serve(kind, payload, bytes);
		}
	}
}

/* Execute one run, from its first request to its last answer. */
void host_run(void)
{
	struct library_boot boot = { 0 };
	unsigned char *payload;
	uint32_t bytes, kind;

	kind = next_request(&payload, &bytes);
	if (kind != REQUEST_START)
		fail("The first request must be the start (1), not %u.", kind);
	need(kind, bytes, sizeof(start));
	start = *(struct start *)payload;
	boot.memory = machine_memory(start.memory_bytes);
	boot.memory_bytes = start.memory_bytes;
	boot.seed = start.seed;
	boot.start_s = start.start_s;
	realtime_ahead_ns = start.start_s * NS_PER_S;
	boot.command_line = "quiet";
	library_horizon_ns = HORIZON_S * NS_PER_S;
	confined = confine();
	library_boot(&boot);
}
