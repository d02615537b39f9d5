// SPDX-License-Identifier: GPL-2.0
/*
 * The traffic. Each sender and each receiver is a thread of the kernel. It makes the same system calls in the same order as
 * netlab's Python agent in the pocket kernel, because otherwise the same run would give other results there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <library_tcp.h>	/* this kernel's header; the machine's may be older */
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "kernel.h"
#include "protocol.h"
#include "traffic.h"

#define TCP_OPTION_MAXSEG 2
#define TCP_OPTION_INFO 11
#define TCP_OPTION_CONGESTION 13
#define TCP_OPTION_WINDOW_CLAMP 10
#define LINGER_OPTION 13		/* SO_LINGER, as the generic system call table has it */
#define RECEIVE_TIMEOUT_OPTION 20
#define SEND_TIMEOUT_OPTION 21
#define STAMP_OPTION 35			/* SO_TIMESTAMPNS */
#define MEMORY_OPTION 55		/* SO_MEMINFO */
#define MEMORY_WORDS 9
#define DROPS_WORD 8
#define ICMP_FILTER_OPTION 1
#define UDP_READ_INTERVAL_NS NS_PER_MS
#define MAX_DATAGRAM_BYTES 65536
#define MIN_WAIT_NS (100 * NS_PER_MS)
#define CLOCK 1				/* CLOCK_MONOTONIC */
#define ECHO_REQUEST 8
#define ECHO_REPLY 0
#define STAMP_BYTES 16

/* An event that happens once: some threads wait until another one signals it. */
struct completion {
	int descriptor;
	int is_done;
};

struct echoes {
	struct echo *rows;
	uint64_t count, replies, capacity;
};

struct responses {
	struct response *rows;
	size_t count, capacity;
};

struct traffic {
	struct flow flow;
	char *label;
	int source, sink, listener;
	int launched;
	int failed;			/* errno of what ended it early */
	const char *failed_call;
	struct completion ended;
	/* TCP */
	struct completion all_read;
	int finished, has_total, end_reported;
	uint64_t read_bytes, connect_ns, first_ns, last_ns;
	struct reading total, last_reading;
	int has_last_reading;
	struct responses responses;	/* requests */
	/* UDP */
	int started, stopping, stop_sending;
	struct stream_counters counters;
	uint64_t sent_datagrams, sent_bytes;
	unsigned char *datagram;
	/* echo */
	struct echoes echoes;
	struct ends *ends;		/* programs */
};

static struct traffic **all;
static size_t all_count, all_capacity;
uint64_t origin_ns;
static uint64_t interval_ns, step_count;
static int payload_file = -1;

void sleep_until(uint64_t when_ns)
{
	struct timespec when = { when_ns / NS_PER_S, when_ns % NS_PER_S };

	if (when_ns > now_ns())
		call(clock_nanosleep, CLOCK, 1 /* TIMER_ABSTIME */, &when, NULL);
}

static void completion_open(struct completion *completion)
{
	completion->descriptor = must(call(eventfd2, 0, 0), "make an event");
}

static void completion_signal(struct completion *completion)
{
	uint64_t one = 1;

	completion->is_done = 1;
	call(write, completion->descriptor, &one, sizeof(one));
}

static void completion_wait(struct completion *completion, uint64_t until_ns)
{
	while (!completion->is_done && now_ns() < until_ns) {
		struct pollfd waiting = { .fd = completion->descriptor, .events = POLLIN };
		uint64_t left_ns = until_ns - now_ns();
		struct timespec left = { left_ns / NS_PER_S, left_ns % NS_PER_S };

		call(ppoll, &waiting, 1, &left, NULL, 8);
	}
}

static int set(int descriptor, int level, int option, int value)
{
	return call(setsockopt, descriptor, level, option, &value, sizeof(value));
}

static struct sockaddr_in address_of(const struct flow *flow)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(flow->port), .sin_addr.s_addr = flow->address };
}

static void start_thread(int (*function)(void *), void *argument)
{
	must(library_thread(function, argument), "start a thread");
}

/* ---- setting up ---- */

static void set_up(struct traffic *t, long result, const char *doing)
{
	if (result < 0)
		fail("%s could not be set up: %s: %s", t->label, doing, strerror(-result));
}

static void tune_tcp(struct traffic *t, int descriptor)
{
	const struct flow *flow = &t->flow;

	/* The receiver has no congestion window, so the user's control is not asked about it. */
	const char *congestion = descriptor == t->listener && !strcmp(flow->congestion, "own") ? "reno" : flow->congestion;

	if (call(setsockopt, descriptor, IPPROTO_TCP, TCP_OPTION_CONGESTION, congestion, strlen(congestion)) < 0)
		fail("%s could not be set up: This kernel has no congestion control '%s'. Choose another one.", t->label,
		     flow->congestion);
	if (flow->window_bytes) {
		/* The kernel's overhead counts against the buffer; make it so large that only the clamp limits the window. */
		uint64_t buffer = 4ull * flow->window_bytes;

		set_up(t, set(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, buffer > 0x3fffffff ? 0x3fffffff : buffer), "its buffer");
		set_up(t, set(descriptor, IPPROTO_TCP, TCP_OPTION_WINDOW_CLAMP, flow->window_bytes), "its window");
	}
	if (flow->mss_bytes)
		set_up(t, set(descriptor, IPPROTO_TCP, TCP_OPTION_MAXSEG, flow->mss_bytes), "its segment size");
}

static void open_tcp(struct traffic *t)
{
	struct sockaddr_in address = address_of(&t->flow);

	enter_node(t->flow.dst);
	set_up(t, t->listener = call(socket, AF_INET, SOCK_STREAM, 0), "socket");
	tune_tcp(t, t->listener);
	set_up(t, call(bind, t->listener, &address, sizeof(address)), "bind");
	set_up(t, call(listen, t->listener, 1), "listen");
	enter_node(t->flow.src);
	set_up(t, t->source = call(socket, AF_INET, SOCK_STREAM, 0), "socket");
	tune_tcp(t, t->source);
	completion_open(&t->all_read);
}

/* The client is the flow's source, but the server's socket is the one that sends the data. */
static void open_requests(struct traffic *t)
{
	open_tcp(t);
	t->sink = t->source;
	t->source = -1;
}

static void open_udp(struct traffic *t)
{
	struct sockaddr_in address = address_of(&t->flow);

	enter_node(t->flow.dst);
	set_up(t, t->sink = call(socket, AF_INET, SOCK_DGRAM, 0), "socket");
	set_up(t, call(bind, t->sink, &address, sizeof(address)), "bind");
	/* With the kernel's time stamps, reading late costs no precision. */
	set_up(t, set(t->sink, SOL_SOCKET, STAMP_OPTION, 1), "time stamps");
	set_up(t, set(t->sink, SOL_SOCKET, SO_RCVBUFFORCE, UDP_RECEIVE_BUFFER_BYTES), "its buffer");
	enter_node(t->flow.src);
	set_up(t, t->source = call(socket, AF_INET, SOCK_DGRAM, 0), "socket");
	/* Datagrams in the queue of the sender's own interface count against its socket. With a small buffer the socket would block,
	 * and send late, although the queue should drop.
	 */
	set_up(t, set(t->source, SOL_SOCKET, SO_SNDBUFFORCE, UDP_SEND_BUFFER_BYTES), "its buffer");
	t->datagram = allocate(t->flow.payload_bytes);
}

static void open_ping(struct traffic *t)
{
	int others = ~(1 << ECHO_REPLY);

	enter_node(t->flow.src);
	set_up(t, t->source = call(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), "socket");
	call(setsockopt, t->source, SOL_RAW, ICMP_FILTER_OPTION, &others, sizeof(others));
	t->datagram = allocate(8 + t->flow.payload_bytes);
}

/* Make a file in memory with the payload of TCP, because sendfile() from it copies nothing. */
static void open_payload(void)
{
	static uint32_t words[PAYLOAD_PERIOD_BYTES / 4];
	static const uint32_t key[1];
	struct twister generator;

	if (payload_file >= 0)
		return;
	/* The bytes are the ones of Python's random.Random(0).randbytes(). */
	twister_start(&generator, key, 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = twister_word(&generator);
	payload_file = must(call(openat, AT_FDCWD, "/payload", O_RDWR | O_CREAT, 0600), "make a file in memory");
	for (size_t done = 0; done < SEND_CHUNK_BYTES; done += sizeof(words))
		must(call(write, payload_file, words, sizeof(words)), "fill a file in memory");
}

void add_flow(const struct flow *flow, const char *label)
{
	struct traffic *t = allocate(sizeof(*t));

	if (all_count == all_capacity) {
		struct traffic **more = allocate((all_capacity = 2 * all_capacity + 16) * sizeof(*more));

		if (all_count)
			memcpy(more, all, all_count * sizeof(*more));
		free(all);
		all = more;
	}
	all[all_count++] = t;
	t->flow = *flow;
	t->flow.congestion[sizeof(flow->congestion) - 1] = 0;
	t->label = strcpy(allocate(strlen(label) + 1), label);
	t->source = t->sink = t->listener = -1;
	t->first_ns = t->last_ns = NONE;
	completion_open(&t->ended);
	if (flow->kind == FLOW_TCP) {
		open_payload();
		open_tcp(t);
	} else if (flow->kind == FLOW_REQUESTS) {
		open_payload();
		open_requests(t);
	} else if (flow->kind == FLOW_UDP) {
		open_udp(t);
	} else if (flow->kind == FLOW_PROGRAM) {
		t->ends = open_ends(&t->flow, t->label);
	} else {
		open_ping(t);
	}
}

/* ---- TCP ---- */

static int read_info(int descriptor, struct tcp_info *info)
{
	int bytes = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return call(getsockopt, descriptor, IPPROTO_TCP, TCP_OPTION_INFO, info, &bytes);
}

static int read_stream(struct traffic *t, struct reading *reading)
{
	struct tcp_info ours, theirs;

	if (t->sink < 0 || read_info(t->source, &ours) < 0 || read_info(t->sink, &theirs) < 0)
		return 0;
	*reading = (struct reading){
		/* The kernel counts the closing FIN as one byte. */
		.received_bytes = t->finished ? t->read_bytes : theirs.tcpi_bytes_received,
		.sent_bytes = ours.tcpi_bytes_sent,
		.delivery_rate = ours.tcpi_delivery_rate,
		.cwnd = ours.tcpi_snd_cwnd,
		.ssthresh = ours.tcpi_snd_ssthresh,
		.rtt_us = ours.tcpi_rtt,
		.rtt_min_us = ours.tcpi_min_rtt,
		.retransmits = ours.tcpi_total_retrans,
		.segments_out = ours.tcpi_data_segs_out,
		.segments_in = theirs.tcpi_data_segs_in,
		.marks = ours.tcpi_delivered_ce,
		.timeouts = ours.tcpi_total_rto,
		.ca_state = ours.tcpi_ca_state,
	};
	t->last_reading = *reading;
	t->has_last_reading = 1;
	return 1;
}

static uint64_t last_arrival_ns(struct traffic *t)
{
	struct tcp_info info;

	if (read_info(t->sink, &info) < 0)
		return now_ns();
	/* The kernel's tick is 1 to 10 ms. For shorter times, now is more accurate. */
	return info.tcpi_last_data_recv > 10 ? now_ns() - info.tcpi_last_data_recv * NS_PER_MS : now_ns();
}

/* Let the reader wake up once per many segments, because a wake-up takes longer than a segment. Unread bytes narrow the window,
 * which has no effect while the path holds far less than the buffer. So this is not done on long paths, nor if the window is
 * limited; nor in transfers, whose last bytes could be fewer than the threshold and would not wake the reader.
 */
static void raise_wakeup_threshold(struct traffic *t, uint64_t bytes, uint64_t took_ns)
{
	struct tcp_info info;
	uint64_t unread;

	if (t->flow.window_bytes || t->flow.num_bytes != NONE || read_info(t->sink, &info) < 0)
		return;
	if (info.tcpi_min_rtt < SHORT_RTT_US) {
		unread = (unsigned __int128)bytes * READ_EVERY_NS / took_ns;
		set(t->sink, SOL_SOCKET, SO_RCVLOWAT, unread > MAX_UNREAD_BYTES ? MAX_UNREAD_BYTES : unread);
	}
}

/* Return the number of bytes to read: at most the rest of the transfer, so that the read ends with its last byte. */
static uint64_t chunk_bytes(const struct traffic *t)
{
	uint64_t left = t->flow.num_bytes == NONE ? 0 : t->flow.num_bytes - t->read_bytes;

	return left && left < RECEIVE_CHUNK_BYTES ? left : RECEIVE_CHUNK_BYTES;
}

static int receive_tcp(void *argument)
{
	struct traffic *t = argument;
	/* MSG_TRUNC never touches the buffer. */
	void *unused_buffer = t;
	uint64_t read_ns, before_ns;
	long count = call(accept4, t->listener, NULL, NULL, 0);

	/* The flow ended before a connection arrived. */
	if (count < 0)
		return 0;
	t->sink = count;
	call(close, t->listener);
	t->listener = -1;
	/* The first read returns with the first bytes, to learn their arrival; later reads wait for large chunks. */
	count = call(recvfrom, t->sink, unused_buffer, chunk_bytes(t), MSG_TRUNC, NULL, NULL);
	if (count > 0) {
		t->first_ns = now_ns();
		/* Since 6.6, the kernel derives the clamp from the buffer again at the first full segment. */
		if (t->flow.window_bytes)
			set(t->sink, IPPROTO_TCP, TCP_OPTION_WINDOW_CLAMP, t->flow.window_bytes);
	}
	read_ns = now_ns();
	while (count > 0) {
		t->read_bytes += count;
		if (t->read_bytes == t->flow.num_bytes)
			t->last_ns = read_ns;
		count = call(recvfrom, t->sink, unused_buffer, chunk_bytes(t), MSG_TRUNC | MSG_WAITALL, NULL, NULL);
		before_ns = read_ns;
		read_ns = now_ns();
		if (count == RECEIVE_CHUNK_BYTES && read_ns > before_ns)
			raise_wakeup_threshold(t, count, read_ns - before_ns);
	}
	/* Ignore times after the flow's end: a full queue may delay the reset that ends this read. */
	if (t->first_ns != NONE && t->last_ns == NONE && !t->has_total) {
		uint64_t last_ns = last_arrival_ns(t);

		t->last_ns = last_ns > t->first_ns ? last_ns : t->first_ns;
	}
	t->finished = 1;
	completion_signal(&t->all_read);
	return 0;
}

/* Send a number of bytes from an end of this flow, which may be closed meanwhile; NONE sends as many as the socket takes until
 * the end. Returns 1 if all were sent.
 */
static int send_bytes(const struct traffic *t, const int *descriptor, uint64_t num_bytes, uint64_t end_ns)
{
	uint64_t sent_bytes = 0, count = SEND_CHUNK_BYTES;

	/* The kernel reports free space only if a third of the send buffer is free, so each wake-up sends many packets. */
	call(fcntl, *descriptor, F_SETFL, O_NONBLOCK);
	while (!t->has_total) {
		uint64_t left_ns;
		int64_t from = 0;
		long done;

		if (num_bytes != NONE) {
			count = num_bytes - sent_bytes;
			if (!count)
				return 1;
			if (count > SEND_CHUNK_BYTES)
				count = SEND_CHUNK_BYTES;
		}
		if (now_ns() >= end_ns)
			break;
		left_ns = end_ns - now_ns();
		done = call(sendfile, *descriptor, payload_file, &from, count);
		if (done >= 0) {
			sent_bytes += done;
		} else if (done != -EAGAIN) {
			break;
		} else if (left_ns >= NS_PER_MS) {
			struct pollfd writable = { .fd = *descriptor, .events = POLLOUT | POLLRDHUP };
			/* Round down to milliseconds, because the agent's poll() takes milliseconds. */
			struct timespec left = { left_ns / NS_PER_S, left_ns % NS_PER_S / NS_PER_MS * NS_PER_MS };

			call(ppoll, &writable, 1, &left, NULL, 8);
		} else {
			sleep_until(end_ns);
		}
	}
	return 0;
}

static void send_tcp(struct traffic *t, uint64_t end_ns)
{
	send_bytes(t, &t->source, t->flow.num_bytes, end_ns);
	call(shutdown, t->source, SHUT_WR);
}

static void close_tcp(struct traffic *t)
{
	/* A reset drops the sender's unsent bytes, so nothing is sent after the flow's end. */
	struct { int on, seconds; } reset = { 1, 0 };
	int *ends[] = { &t->source, &t->sink, &t->listener };

	/* Closing alone would leave the thread of the listener waiting for a connection. */
	call(shutdown, t->listener, SHUT_RDWR);
	for (int i = 0; i < 3; i++) {
		if (*ends[i] < 0)
			continue;
		call(setsockopt, *ends[i], SOL_SOCKET, LINGER_OPTION, &reset, sizeof(reset));
		call(close, *ends[i]);
		*ends[i] = -1;
	}
}

static void end_tcp(struct traffic *t)
{
	if (t->has_total)
		return;
	if (!read_stream(t, &t->total))
		t->total = t->last_reading;
	if (t->last_ns == NONE)
		t->last_ns = now_ns();
	t->has_total = 1;
	/* The reset ends the read of the receiver's thread. */
	close_tcp(t);
	completion_signal(&t->ended);
}

/* Connect the flow's socket at its start. Returns 1 if it is connected and the flow was not stopped meanwhile. */
static int connect_tcp(struct traffic *t, int descriptor)
{
	struct sockaddr_in address = address_of(&t->flow);
	struct timespec timeout = { CONNECT_TIMEOUT_S, 0 }, no_timeout = { 0, 0 };
	long result;

	enter_node(t->flow.src);
	sleep_until(origin_ns + t->flow.start_ns);
	if (t->has_total)
		return 0;
	t->connect_ns = now_ns();
	call(setsockopt, descriptor, SOL_SOCKET, SEND_TIMEOUT_OPTION, &timeout, sizeof(timeout));
	result = call(connect, descriptor, &address, sizeof(address));
	call(setsockopt, descriptor, SOL_SOCKET, SEND_TIMEOUT_OPTION, &no_timeout, sizeof(no_timeout));
	if (t->has_total)
		return 0;
	if (result < 0) {
		t->failed = result == -EINPROGRESS ? ETIMEDOUT : -result;
		t->failed_call = "connect";
		close_tcp(t);
		completion_signal(&t->ended);
		return 0;
	}
	return 1;
}

static int run_tcp(void *argument)
{
	struct traffic *t = argument;
	uint64_t end_ns = origin_ns + t->flow.end_ns;

	if (!connect_tcp(t, t->source))
		return 0;
	/* Send without waiting for the receiver's accept(), as applications do. */
	send_tcp(t, end_ns);
	if (t->flow.num_bytes != NONE)
		completion_wait(&t->all_read, end_ns);
	else
		sleep_until(end_ns);
	end_tcp(t);
	return 0;
}

/* ---- requests and responses over TCP ---- */

static int serve_requests(void *argument)
{
	struct traffic *t = argument;
	uint64_t end_ns = origin_ns + t->flow.end_ns, read_bytes = 0;
	/* MSG_TRUNC never touches the buffer. */
	void *unused_buffer = t;
	long count = call(accept4, t->listener, NULL, NULL, 0);

	if (count < 0)
		return 0;
	t->source = count;
	call(close, t->listener);
	t->listener = -1;
	call(fcntl, t->source, F_SETFL, O_NONBLOCK);
	while (!t->has_total) {
		struct pollfd waiting = { .fd = t->source, .events = POLLIN | POLLRDHUP };

		count = call(recvfrom, t->source, unused_buffer, t->flow.request_bytes - read_bytes, MSG_TRUNC, NULL, NULL);
		if (count == -EAGAIN) {
			call(ppoll, &waiting, 1, NULL, NULL, 8);
			continue;
		}
		if (count <= 0)
			break;
		read_bytes += count;
		if (read_bytes < t->flow.request_bytes)
			continue;
		read_bytes = 0;
		if (!send_bytes(t, &t->source, t->flow.response_bytes, end_ns))
			break;
	}
	return 0;
}

static struct response *add_response(struct responses *responses)
{
	if (responses->count == responses->capacity) {
		struct response *more = allocate((responses->capacity = 2 * responses->capacity + 16) * sizeof(*more));

		if (responses->count)
			memcpy(more, responses->rows, responses->count * sizeof(*more));
		free(responses->rows);
		responses->rows = more;
	}
	return &responses->rows[responses->count++];
}

/* Send a request and wait for the whole response. Returns 1 if it arrived before the flow's end. */
static int exchange(struct traffic *t, uint64_t number, uint64_t end_ns)
{
	struct response *response = add_response(&t->responses);
	uint64_t left = t->flow.response_bytes;
	struct tcp_info info;

	*response = (struct response){ .number = number, .start_ns = now_ns() - origin_ns, .end_ns = NONE };
	/* Before the first request the server may not have its socket yet. */
	if (t->source >= 0 && read_info(t->source, &info) >= 0) {
		response->retransmits = info.tcpi_total_retrans;
		response->timeouts = info.tcpi_total_rto;
	}
	if (!send_bytes(t, &t->sink, t->flow.request_bytes, end_ns))
		return 0;
	call(fcntl, t->sink, F_SETFL, 0);
	while (left) {
		/* MSG_TRUNC never touches the buffer. */
		long count = call(recvfrom, t->sink, t, left < RECEIVE_CHUNK_BYTES ? left : RECEIVE_CHUNK_BYTES,
				  MSG_TRUNC | MSG_WAITALL, NULL, NULL);

		if (t->has_total || !count)
			return 0;
		if (count < 0) {
			t->failed = -count;
			t->failed_call = "receive";
			return 0;
		}
		left -= count;
	}
	response->end_ns = now_ns() - origin_ns;
	t->last_ns = now_ns();
	if (t->first_ns == NONE)
		t->first_ns = t->last_ns;
	return 1;
}

static void end_requests(struct traffic *t)
{
	if (t->has_total)
		return;
	if (!read_stream(t, &t->total))
		t->total = t->last_reading;
	if (t->last_ns == NONE)
		t->last_ns = now_ns();
	t->has_total = 1;
	/* Closing alone would leave the reading threads waiting. */
	call(shutdown, t->sink, SHUT_RD);
	call(shutdown, t->source, SHUT_RD);
	close_tcp(t);
	completion_signal(&t->ended);
}

static int run_client(void *argument)
{
	struct traffic *t = argument;
	uint64_t end_ns = origin_ns + t->flow.end_ns, next_ns = 0, number = t->flow.stream;

	if (!connect_tcp(t, t->sink))
		return 0;
	for (; number < t->flow.count; number += t->flow.connections) {
		uint64_t due_ns = origin_ns + t->flow.start_ns + number * t->flow.interval_ns;

		if (due_ns < next_ns)
			due_ns = next_ns;
		/* The connection stays open until the end. */
		if (due_ns >= end_ns)
			return 0;
		sleep_until(due_ns);
		if (t->has_total || !exchange(t, number, end_ns))
			return 0;
		next_ns = now_ns() + t->flow.think_ns;
	}
	end_requests(t);
	return 0;
}

static int end_at_time(void *argument)
{
	struct traffic *t = argument;

	completion_wait(&t->ended, origin_ns + t->flow.end_ns);
	end_requests(t);
	return 0;
}

/* ---- UDP ---- */

static void put64(unsigned char *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = value >> (56 - 8 * i);
}

static uint64_t get64(const unsigned char *at)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

static int send_until(struct traffic *t, uint64_t due)
{
	while (t->sent_datagrams < due) {
		long done;

		t->datagram[0] = t->flow.port >> 24;
		t->datagram[1] = t->flow.port >> 16;
		t->datagram[2] = t->flow.port >> 8;
		t->datagram[3] = t->flow.port;
		put64(t->datagram + 4, t->sent_datagrams);
		put64(t->datagram + 12, now_ns() + realtime_ahead_ns);
		done = call(sendto, t->source, t->datagram, t->flow.payload_bytes, 0, NULL, 0);
		/* The kernel reports an earlier datagram's 'port unreachable' instead of sending this one. */
		if (done == -ECONNREFUSED)
			done = call(sendto, t->source, t->datagram, t->flow.payload_bytes, 0, NULL, 0);
		if (done < 0) {
			t->failed = -done;
			t->failed_call = "send";
			return 0;
		}
		t->sent_datagrams++;
		t->sent_bytes += t->flow.payload_bytes;
	}
	return 1;
}

/* Return the number of datagrams that are due before this time since the start. */
static uint64_t due_before(const struct flow *flow, uint64_t elapsed_ns)
{
	unsigned __int128 each = (unsigned __int128)flow->payload_bytes * 8 * NS_PER_S;

	return ((unsigned __int128)elapsed_ns * flow->rate_bps + each - 1) / each;
}

static void send_evenly(struct traffic *t, uint64_t start_ns, uint64_t total)
{
	const struct flow *flow = &t->flow;
	unsigned __int128 each = (unsigned __int128)flow->payload_bytes * 8 * NS_PER_S;
	uint64_t burst = (unsigned __int128)flow->rate_bps * UDP_BURST_NS / each;

	if (burst < 1)
		burst = 1;
	while (t->sent_datagrams < total && !t->stop_sending) {
		uint64_t due = due_before(flow, now_ns() - start_ns + 1);
		int late;

		if (due > total)
			due = total;
		late = due > t->sent_datagrams + burst;
		if (!send_until(t, late ? t->sent_datagrams + burst : due) || t->sent_datagrams >= total)
			return;
		if (late)
			sleep_until(now_ns() + burst * each / flow->rate_bps / 2);
		else
			sleep_until(start_ns + (t->sent_datagrams * each + flow->rate_bps - 1) / flow->rate_bps);
	}
}

/* Draw uniform times in ascending order, one by one: the smallest of n uniform numbers in (x, 1) is 1 - (1 - x) U^(1/n). */
static void send_spread(struct traffic *t, uint64_t start_ns, uint64_t duration_ns, uint64_t total)
{
	struct twister *generator = allocate(sizeof(*generator));
	double left_share = 1.0;

	twister_start(generator, t->flow.key, t->flow.key_words);
	for (uint64_t left = total; left && !t->stop_sending; left--) {
		left_share *= nth_root(twister_next(generator), left);
		sleep_until(start_ns + (uint64_t)((1 - left_share) * duration_ns));
		if (t->stop_sending || !send_until(t, t->sent_datagrams + 1))
			break;
	}
	free(generator);
}

static int run_udp_sender(void *argument)
{
	struct traffic *t = argument;
	struct sockaddr_in address = address_of(&t->flow);
	uint64_t end_ns = origin_ns + t->flow.end_ns, start_ns, total;
	long result;

	enter_node(t->flow.src);
	sleep_until(origin_ns + t->flow.start_ns);
	t->started = 1;
	result = call(connect, t->source, &address, sizeof(address));
	if (result < 0) {
		t->failed = -result;
		t->failed_call = "connect";
	} else {
		start_ns = now_ns();
		total = end_ns > start_ns ? due_before(&t->flow, end_ns - start_ns) : 0;
		if (t->flow.spread)
			send_spread(t, start_ns, end_ns - start_ns, total);
		else
			send_evenly(t, start_ns, total);
	}
	completion_signal(&t->ended);
	return 0;
}

/* Count all datagrams that have arrived. */
static void read_datagrams(struct traffic *t)
{
	/* All threads share the buffers, because no thread switches while it uses them. */
	static unsigned char head[MEASUREMENT_HEADER_BYTES], control[64];

	for (;;) {
		struct iovec vector = { head, sizeof(head) };
		/* The kernel's struct user_msghdr is the C library's struct msghdr on 64 bits. */
		struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
					  .msg_controllen = sizeof(control) };
		long bytes = call(recvmsg, t->sink, &message, MSG_DONTWAIT | MSG_TRUNC);
		struct cmsghdr *stamp;
		int64_t when[2];
		uint64_t port;

		if (bytes == -ECONNREFUSED)
			continue;
		if (bytes < 0)
			return;
		stamp = CMSG_FIRSTHDR(&message);
		port = (uint64_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
		if (bytes < MEASUREMENT_HEADER_BYTES || port != t->flow.port || !stamp)
			continue;
		memcpy(when, CMSG_DATA(stamp), sizeof(when));
		/* Time stamps are of CLOCK_REALTIME; its difference to CLOCK_MONOTONIC is constant. */
		count_datagram(&t->counters, get64(head + 4), get64(head + 12) - realtime_ahead_ns,
			       when[0] * NS_PER_S + when[1] - realtime_ahead_ns, bytes);
	}
}

static int receive_udp(void *argument)
{
	struct traffic *t = argument;

	while (!t->stopping) {
		struct pollfd waiting = { .fd = t->sink, .events = POLLIN };

		call(ppoll, &waiting, 1, NULL, NULL, 8);
		if (t->stopping)
			break;
		read_datagrams(t);
		/* Read several datagrams per wake-up, because a wake-up takes longer than a datagram. */
		sleep_until(now_ns() + UDP_READ_INTERVAL_NS);
	}
	return 0;
}

/* ---- echo ---- */

/* Return the checksum of RFC 1071. */
static uint16_t internet_checksum(const unsigned char *data, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2)
		sum += data[i] << 8 | data[i + 1];
	if (bytes % 2)
		sum += data[bytes - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void send_echo(struct traffic *t)
{
	struct echoes *echoes = &t->echoes;
	struct sockaddr_in address = address_of(&t->flow);
	unsigned char *packet = t->datagram;
	size_t bytes = 8 + t->flow.payload_bytes;
	uint16_t sum;

	address.sin_port = 0;
	if (echoes->count == echoes->capacity) {
		struct echo *more = allocate((echoes->capacity = 2 * echoes->capacity + 64) * sizeof(*more));

		if (echoes->count)
			memcpy(more, echoes->rows, echoes->count * sizeof(*more));
		free(echoes->rows);
		echoes->rows = more;
	}
	echoes->rows[echoes->count] = (struct echo){ echoes->count + 1, now_ns() - origin_ns, NONE };
	echoes->count++;
	memset(packet, 0, 8);
	packet[0] = ECHO_REQUEST;
	packet[4] = t->flow.port >> 8;
	packet[5] = t->flow.port;
	packet[6] = echoes->count >> 8;
	packet[7] = echoes->count;
	put64(packet + 8, echoes->count);
	put64(packet + 16, now_ns());
	sum = internet_checksum(packet, bytes);
	packet[2] = sum >> 8;
	packet[3] = sum;
	/* Without a buffer or a route the request counts as sent and will have no reply. */
	call(sendto, t->source, packet, bytes, 0, &address, sizeof(address));
}

static int run_ping(void *argument)
{
	struct traffic *t = argument;
	uint64_t due_ns = origin_ns + t->flow.start_ns;

	enter_node(t->flow.src);
	while (t->echoes.count < t->flow.count && due_ns < origin_ns + t->flow.end_ns && !t->stopping) {
		sleep_until(due_ns);
		if (t->stopping)
			break;
		send_echo(t);
		due_ns += t->flow.interval_ns;
	}
	completion_signal(&t->ended);
	return 0;
}

static int receive_echoes(void *argument)
{
	struct traffic *t = argument;
	unsigned char *packet = allocate(MAX_DATAGRAM_BYTES);

	while (!t->stopping) {
		long bytes = call(recvfrom, t->source, packet, MAX_DATAGRAM_BYTES, 0, NULL, NULL);
		long header = bytes > 0 ? (packet[0] & 0xf) * 4 : 0;
		const unsigned char *reply = packet + header;
		uint64_t number;

		if (bytes <= 0)
			break;
		if (bytes < header + 8 + STAMP_BYTES || reply[0] != ECHO_REPLY || (reply[4] << 8 | reply[5]) != (int)t->flow.port)
			continue;
		number = get64(reply + 8);
		if (!number || number > t->echoes.count || t->echoes.rows[number - 1].rtt_ns != NONE)
			continue;
		t->echoes.rows[number - 1].rtt_ns = now_ns() - get64(reply + 16);
		t->echoes.replies++;
	}
	free(packet);
	return 0;
}

/* ---- the run ---- */

static void launch(struct traffic *t)
{
	t->launched = 1;
	switch (t->flow.kind) {
	case FLOW_TCP:
		start_thread(receive_tcp, t);
		start_thread(run_tcp, t);
		break;
	case FLOW_REQUESTS:
		start_thread(serve_requests, t);
		start_thread(run_client, t);
		start_thread(end_at_time, t);
		break;
	case FLOW_UDP:
		t->counters.origin_ns = origin_ns;
		t->counters.interval_ns = interval_ns;
		t->counters.timely_ns = t->flow.end_ns - t->flow.start_ns;
		t->counters.interval_count = step_count + 1;
		t->counters.grows = !step_count;
		t->counters.intervals = allocate(t->counters.interval_count * sizeof(*t->counters.intervals));
		start_thread(receive_udp, t);
		start_thread(run_udp_sender, t);
		break;
	case FLOW_PROGRAM:
		start_ends(t->ends);
		break;
	default:
		start_thread(receive_echoes, t);
		start_thread(run_ping, t);
	}
}

static void sample_streams(uint32_t step)
{
	static struct stream_sample samples[512];
	size_t ready = 0;

	for (size_t i = 0; i < all_count; i++) {
		struct traffic *t = all[i];
		struct stream_sample *sample = &samples[ready];
		int known;

		if ((t->flow.kind != FLOW_TCP && t->flow.kind != FLOW_REQUESTS) || t->end_reported)
			continue;
		*sample = (struct stream_sample){ .item = t->flow.item, .stream = t->flow.stream, .step = step };
		/* Report the total as the last reading of a stream that has just ended, and nothing afterwards. */
		if (t->has_total) {
			t->end_reported = 1;
			sample->reading = t->total;
			known = t->has_last_reading;
		} else {
			known = read_stream(t, &sample->reading);
		}
		if (known && ++ready == sizeof(samples) / sizeof(*samples)) {
			answer(ANSWER_STREAMS, samples, sizeof(samples), NULL, 0);
			ready = 0;
		}
	}
	if (ready)
		answer(ANSWER_STREAMS, samples, ready * sizeof(*samples), NULL, 0);
}

static uint64_t at_least(uint64_t until_ns)
{
	uint64_t least_ns = now_ns() + MIN_WAIT_NS;

	return until_ns > least_ns ? until_ns : least_ns;
}

/* Wait until all packets in flight have arrived, at most until this time. */
static void finish(struct traffic *t, uint64_t until_ns)
{
	uint64_t pause_ns = 10 * NS_PER_MS;

	switch (t->flow.kind) {
	case FLOW_TCP:
	case FLOW_REQUESTS:
		completion_wait(&t->ended, at_least(until_ns));
		break;
	case FLOW_UDP:
		while (t->started && now_ns() < until_ns) {
			read_datagrams(t);
			if (t->counters.received_datagrams >= t->sent_datagrams)
				break;
			sleep_until(now_ns() + pause_ns < until_ns ? now_ns() + pause_ns : until_ns);
			pause_ns += pause_ns / 2;
		}
		t->stopping = 1;
		break;
	case FLOW_PROGRAM:
		stop_ends(t->ends);
		break;
	default:
		while (now_ns() < until_ns && t->echoes.replies < t->echoes.count) {
			uint64_t next_ns = now_ns() + 50 * NS_PER_MS;

			sleep_until(next_ns < until_ns ? next_ns : until_ns);
		}
		t->stopping = 1;
	}
}

static void report_tcp(struct traffic *t)
{
	struct tcp_total total = { .item = t->flow.item, .stream = t->flow.stream, .has_reading = t->has_last_reading,
				   .first_ns = NONE, .reading = t->total };

	if (!t->has_total && read_stream(t, &total.reading)) {
		total.has_reading = 1;
		if (t->first_ns != NONE) {
			total.connect_ns = t->connect_ns - origin_ns;
			total.first_ns = t->first_ns - origin_ns;
			total.last_ns = (t->last_ns == NONE ? now_ns() : t->last_ns) - origin_ns;
		}
	}
	if (t->has_total && t->first_ns != NONE) {
		total.connect_ns = t->connect_ns - origin_ns;
		total.first_ns = t->first_ns - origin_ns;
		total.last_ns = t->last_ns - origin_ns;
	}
	answer(ANSWER_TCP, &total, sizeof(total), NULL, 0);
}

static void report_udp(struct traffic *t)
{
	const struct stream_counters *counters = &t->counters;
	uint32_t words[MEMORY_WORDS] = { 0 };
	int bytes = sizeof(words);
	struct udp_total total;
	struct udp_interval *used = allocate((counters->interval_count + 1) * sizeof(*used));
	size_t count = 0;

	call(getsockopt, t->sink, SOL_SOCKET, MEMORY_OPTION, words, &bytes);
	total = (struct udp_total){
		.item = t->flow.item,
		.drops = words[DROPS_WORD],
		.sent_bytes = t->sent_bytes,
		.sent_datagrams = t->sent_datagrams,
		.received_bytes = counters->received_bytes,
		.received_datagrams = counters->received_datagrams,
		.duplicates = counters->duplicates,
		.reordered = counters->reordered,
		.jitter_ns = counters->jitter_ns,
		.delay_min_ns = counters->delay_min_ns,
		.delay_max_ns = counters->delay_max_ns,
		.delay_sum_ns = counters->delay_sum_ns,
		.first_ns = counters->received_datagrams ? counters->first_ns - origin_ns : NONE,
		.last_ns = counters->received_datagrams ? counters->last_ns - origin_ns : NONE,
		.timely_bytes = counters->timely_bytes,
		.timely_datagrams = counters->timely_datagrams,
		.timely_duplicates = counters->timely_duplicates,
		.timely_last_ns = counters->timely_datagrams ? counters->timely_last_ns - origin_ns : NONE,
	};
	for (size_t i = 0; i < counters->interval_count; i++)
		if (counters->intervals[i].datagrams) {
			used[count] = counters->intervals[i];
			used[count++].number = i;
		}
	answer(ANSWER_UDP, &total, sizeof(total), used, count * sizeof(*used));
	free(used);
}

static void report_responses(struct traffic *t)
{
	uint32_t head[2] = { t->flow.item, t->flow.stream };

	answer(ANSWER_RESPONSES, head, sizeof(head), t->responses.rows, t->responses.count * sizeof(*t->responses.rows));
}

static void report(struct traffic *t)
{
	if (t->flow.kind == FLOW_TCP) {
		report_tcp(t);
	} else if (t->flow.kind == FLOW_REQUESTS) {
		report_tcp(t);
		report_responses(t);
	} else if (t->flow.kind == FLOW_UDP) {
		report_udp(t);
	} else if (t->flow.kind == FLOW_PING) {
		uint32_t head[2] = { t->flow.item, 0 };

		answer(ANSWER_ECHOES, head, sizeof(head), t->echoes.rows, t->echoes.count * sizeof(*t->echoes.rows));
	}
	if (t->failed) {
		uint32_t head[2] = { t->flow.item, t->failed };

		answer(ANSWER_ERROR, head, sizeof(head), t->failed_call, strlen(t->failed_call));
	}
}

/* ---- begin, advance, finish ---- */

void begin_traffic(const struct go *go)
{
	interval_ns = go->interval_ns;
	step_count = go->steps;
	wait_for_interfaces();
	origin_ns = (now_ns() + SETTLE_NS + TRAFFIC_AT_NS - 1) / TRAFFIC_AT_NS * TRAFFIC_AT_NS;
	make_first_changes();
	for (size_t i = 0; i < all_count; i++)
		launch(all[i]);
	follow_changes();
}

void advance_traffic(const struct advance *advance)
{
	static uint64_t step, reported_ns;

	/* Launch the flows that were added since the last call. */
	for (size_t i = 0; i < all_count; i++)
		if (!all[i]->launched)
			launch(all[i]);
	follow_changes();
	while ((step + 1) * interval_ns <= advance->until_ns) {
		step++;
		sleep_until(origin_ns + step * interval_ns);
		sample_streams(step);
		sample_queues(step);
		if (advance->progress_ns && step * interval_ns >= reported_ns + advance->progress_ns) {
			reported_ns = step * interval_ns;
			answer(ANSWER_PROGRESS, &step, sizeof(step), NULL, 0);
		}
	}
	sleep_until(origin_ns + advance->until_ns);
}

void stop_item(uint32_t item)
{
	for (size_t i = 0; i < all_count; i++) {
		struct traffic *t = all[i];

		if (t->flow.item != item)
			continue;
		if (t->flow.kind == FLOW_TCP)
			end_tcp(t);
		else if (t->flow.kind == FLOW_REQUESTS)
			end_requests(t);
		else if (t->flow.kind == FLOW_UDP)
			t->stop_sending = 1;
		else if (t->flow.kind == FLOW_PROGRAM)
			stop_ends(t->ends);
		else
			t->stopping = 1;
	}
}

void finish_traffic(uint64_t until_ns)
{
	for (size_t i = 0; i < all_count; i++)
		finish(all[i], origin_ns + until_ns);
	report_packets();
}

void report_tables(void)
{
	for (size_t i = 0; i < all_count; i++) {
		if (all[i]->flow.kind == FLOW_UDP && all[i]->launched && !all[i]->stopping)
			read_datagrams(all[i]);
		report(all[i]);
	}
}

void run_traffic(const struct go *go)
{
	uint64_t steps = go->steps / 50 ? go->steps / 50 : 1;
	const struct advance whole = { go->steps * go->interval_ns, steps * go->interval_ns };
	const uint64_t end_ns = go->duration_ns + go->drain_ns;

	begin_traffic(go);
	advance_traffic(&whole);
	finish_traffic(end_ns);
	report_tables();
}
