// SPDX-License-Identifier: GPL-2.0
/*
 * The program around the library kernel: it reads what to build and send from standard input, lets the kernel do it, and
 * writes what was measured to standard output (protocol.h). It is one run: it starts, answers and ends. What differs by
 * where it runs is in native/machine.c and wasm/machine.c.
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
#define MAX_TOLD_BYTES (1u << 20)
#define HORIZON_S 200000ULL			/* more than two days: no run is longer than one */

static char said[2048];				/* the kernel's last words */
static size_t said_bytes;
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

/* The last frame: also from a signal handler, so without stdio and without what was pending. */
void last_words(const char *text, int with_log)
{
	size_t length = strlen(text), log_bytes = with_log ? said_bytes : 0;
	struct frame frame = { ANSWER_FAILED, length + log_bytes };

	machine_write(&frame, sizeof(frame));
	machine_write(text, length);
	machine_write(said, log_bytes);
	machine_exit(1);
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
	/* Without %f, which WebAssembly's vsnprintf(), the kernel's own, does not know. */
	unsigned long long ms = (now_ns() + NS_PER_MS / 2) / NS_PER_MS;

	fail("All of the network sleeps and nothing is left that would wake it (after %llu.%03llu s of network time).",
	     ms / 1000, ms % 1000);
}

/* The next request; the payload is valid until the next call and is followed by a zero. */
static uint32_t next_request(unsigned char **payload, uint32_t *bytes)
{
	static unsigned char *room;
	static size_t room_bytes;
	struct frame frame;

	machine_read(&frame, sizeof(frame));
	if (frame.length > MAX_FRAME_BYTES)
		fail("A request of %u bytes is more than the %u that are allowed.", frame.length, MAX_FRAME_BYTES);
	if (frame.length + 1 > room_bytes) {
		room_bytes = frame.length + 4096;
		room = realloc(room, room_bytes);
		if (!room)
			fail("There is no memory left for a request of %u bytes.", frame.length);
	}
	machine_read(room, frame.length);
	room[frame.length] = 0;
	*payload = room;
	*bytes = frame.length;
	return frame.kind;
}

/* No network time passes. What is told is valid until the next question. */
const unsigned char *ask(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
			 size_t least, uint32_t *bytes)
{
	/* Not the room of the request that is being served. */
	static unsigned char told[MAX_TOLD_BYTES];
	struct frame frame;

	answer(kind, head, head_bytes, tail, tail_bytes);
	flush();
	machine_read(&frame, sizeof(frame));
	if (frame.kind != REQUEST_REPLY || frame.length < least || frame.length > sizeof(told))
		fail("To a question came request %u of %u bytes: the program and its kernel are of different versions.", frame.kind,
		     frame.length);
	machine_read(told, frame.length);
	*bytes = frame.length;
	return told;
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
	/* struct new_utsname: six fields of 65 bytes. */
	char names[6][65] = { { 0 } };

	must(call(uname, names), "tell its release");
	answer(ANSWER_DONE, &done, sizeof(done), names[2], strlen(names[2]));
	flush();
	machine_exit(0);
}

static void tell_now(void)
{
	/* Time has begun a little before the origin. */
	uint64_t now[2] = { now_ns() > origin_ns ? now_ns() - origin_ns : 0, origin_ns + realtime_ahead_ns };

	answer(ANSWER_NOW, now, sizeof(now), NULL, 0);
	flush();
}

static void tell_format(void)
{
	static const char format[] = WIRE_FORMAT;

	answer(ANSWER_FORMAT, format, sizeof(format) - 1, NULL, 0);
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
		case REQUEST_FORMAT:
			tell_format();
			break;
		default:
			serve(kind, payload, bytes);
		}
	}
}

/* One run, from its first request to its last answer. */
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
