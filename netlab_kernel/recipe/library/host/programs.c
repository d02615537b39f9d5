// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of the user's at both ends of a flow of datagrams: they are asked what to do at the start, with each datagram
 * and at each timer. No network time passes meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "kernel.h"
#include "protocol.h"

#define SEND_BUFFER_BYTES (1 << 28)	/* as of a UDP flow: the queue drops, the socket does not wait */
#define RECEIVE_BUFFER_BYTES (32 << 20)
#define MAX_DATAGRAM_BYTES 65536

struct end {
	const struct flow *flow;
	uint32_t receives;
	int descriptor, stopped;
	uint64_t timer_ns;
};

struct ends {
	struct end end[2];
};

static int open_end(struct end *end, const struct flow *flow, int receives, const struct sockaddr_in *other, const char *label)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(flow->port) };
	int buffer = SEND_BUFFER_BYTES, room = RECEIVE_BUFFER_BYTES;

	*end = (struct end){ .flow = flow, .receives = receives, .timer_ns = NONE };
	enter_node(receives ? flow->dst : flow->src);
	end->descriptor = must(call(socket, AF_INET, SOCK_DGRAM, 0), label);
	must(call(bind, end->descriptor, &own, sizeof(own)), label);
	must(call(connect, end->descriptor, other, sizeof(*other)), label);
	must(call(setsockopt, end->descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)), label);
	must(call(setsockopt, end->descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)), label);
	return end->descriptor;
}

struct ends *open_ends(const struct flow *flow, const char *label)
{
	struct ends *ends = allocate(sizeof(*ends));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(flow->port), .sin_addr.s_addr = flow->address };
	int bytes = sizeof(address), sender = open_end(&ends->end[0], flow, 0, &address, label);

	/* Where it sends from follows from its route. */
	must(call(getsockname, sender, &address, &bytes), label);
	open_end(&ends->end[1], flow, 1, &address, label);
	return ends;
}

static void ask_end(struct end *end, enum program_event event, const void *datagram, size_t datagram_bytes)
{
	struct happened happened = { now_ns() - origin_ns, end->flow->port, event, end->receives, 0 };
	struct told told;
	uint32_t left, bytes;
	const unsigned char *reply = ask(ANSWER_PROGRAM, &happened, sizeof(happened), datagram, datagram_bytes, sizeof(told), &left);
	/* What is sent may make others ask before it is all sent. */
	unsigned char *kept = memcpy(allocate(left), reply, left), *at = kept;

	memcpy(&told, at, sizeof(told));
	end->timer_ns = told.timer_ns;
	for (at += sizeof(told), left -= sizeof(told); left >= sizeof(bytes); at += bytes, left -= bytes) {
		memcpy(&bytes, at, sizeof(bytes));
		at += sizeof(bytes);
		left -= sizeof(bytes);
		if (bytes > left)
			fail("A datagram of %u bytes was to be sent, of which %u are there.", bytes, left);
		/* What cannot leave, over a link that is down, is lost. */
		if (call(sendto, end->descriptor, at, bytes, 0, NULL, 0) == -ECONNREFUSED)
			call(sendto, end->descriptor, at, bytes, 0, NULL, 0);
	}
	free(kept);
}

static int run_end(void *argument)
{
	/* One at a time and without a switch in between. */
	static unsigned char datagram[MAX_DATAGRAM_BYTES];
	struct end *end = argument;
	uint64_t end_ns = origin_ns + end->flow->end_ns;

	enter_node(end->receives ? end->flow->dst : end->flow->src);
	sleep_until(origin_ns + end->flow->start_ns);
	if (!end->stopped)
		ask_end(end, PROGRAM_START, NULL, 0);
	while (!end->stopped && now_ns() < end_ns) {
		uint64_t until_ns = end->timer_ns < end->flow->end_ns ? origin_ns + end->timer_ns : end_ns;
		long bytes = call(recvfrom, end->descriptor, datagram, sizeof(datagram), MSG_DONTWAIT, NULL, NULL);

		if (bytes >= 0) {
			ask_end(end, PROGRAM_DATAGRAM, datagram, bytes);
		} else if (until_ns <= now_ns()) {
			end->timer_ns = NONE;
			ask_end(end, PROGRAM_TIMER, NULL, 0);
		} else {
			struct pollfd waiting = { .fd = end->descriptor, .events = POLLIN };
			struct timespec left = { (until_ns - now_ns()) / NS_PER_S, (until_ns - now_ns()) % NS_PER_S };

			call(ppoll, &waiting, 1, &left, NULL, 8);
		}
	}
	return 0;
}

void start_ends(struct ends *ends)
{
	/* Who receives is ready first. */
	for (int i = 1; i >= 0; i--)
		must(library_thread(run_end, &ends->end[i]), "start a thread");
}

void stop_ends(struct ends *ends)
{
	ends->end[0].stopped = ends->end[1].stopped = 1;
}
