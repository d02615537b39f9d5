// SPDX-License-Identifier: GPL-2.0
/*
 * The user's programs at both ends of a flow of datagrams. Each gets a question at the start, for each datagram and when its
 * timer expires, and replies with datagrams to send. No network time passes meanwhile.
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

#define SEND_BUFFER_BYTES (1 << 28)	/* as large as for a UDP flow, so that the queue drops and the socket never blocks */
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
	int send_bytes = SEND_BUFFER_BYTES, receive_bytes = RECEIVE_BUFFER_BYTES;

	*end = (struct end){ .flow = flow, .receives = receives, .timer_ns = NONE };
	enter_node(receives ? flow->dst : flow->src);
	end->descriptor = must(call(socket, AF_INET, SOCK_DGRAM, 0), label);
	must(call(bind, end->descriptor, &own, sizeof(own)), label);
	must(call(connect, end->descriptor, other, sizeof(*other)), label);
	must(call(setsockopt, end->descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &send_bytes, sizeof(send_bytes)), label);
	must(call(setsockopt, end->descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes, sizeof(receive_bytes)), label);
	return end->descriptor;
}

struct ends *open_ends(const struct flow *flow, const char *label)
{
	struct ends *ends = allocate(sizeof(*ends));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(flow->port), .sin_addr.s_addr = flow->address };
	int bytes = sizeof(address), sender = open_end(&ends->end[0], flow, 0, &address, label);

	/* The kernel chose the sender's address by its route. */
	must(call(getsockname, sender, &address, &bytes), label);
	open_end(&ends->end[1], flow, 1, &address, label);
	return ends;
}

static void ask_end(struct end *end, enum program_event event, const void *datagram, size_t datagram_bytes)
{
	struct program_question question = { now_ns() - origin_ns, end->flow->port, event, end->receives, 0 };
	struct program_reply reply;
	uint32_t left, bytes;
	const unsigned char *data = ask(ANSWER_PROGRAM, &question, sizeof(question), datagram, datagram_bytes, sizeof(reply), &left);
	/* Copy the reply, because sending may wake another end, whose question would overwrite it. */
	unsigned char *copy = memcpy(allocate(left), data, left), *at = copy;

	memcpy(&reply, at, sizeof(reply));
	end->timer_ns = reply.timer_ns;
	for (at += sizeof(reply), left -= sizeof(reply); left >= sizeof(bytes); at += bytes, left -= bytes) {
		memcpy(&bytes, at, sizeof(bytes));
		at += sizeof(bytes);
		left -= sizeof(bytes);
		if (bytes > left)
			fail("A datagram of %u bytes was to be sent, of which %u are there.", bytes, left);
		/* A datagram that cannot leave, because a link is down, is lost. The first error may be the one of an earlier datagram. */
		if (call(sendto, end->descriptor, at, bytes, 0, NULL, 0) == -ECONNREFUSED)
			call(sendto, end->descriptor, at, bytes, 0, NULL, 0);
	}
	free(copy);
}

static int run_end(void *argument)
{
	/* All threads share the buffer, because no thread switches while it uses it. */
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
	/* Start the receiver first, so that it is ready for the sender's first datagram. */
	for (int i = 1; i >= 0; i--)
		must(library_thread(run_end, &ends->end[i]), "start a thread");
}

void stop_ends(struct ends *ends)
{
	ends->end[0].stopped = ends->end[1].stopped = 1;
}
