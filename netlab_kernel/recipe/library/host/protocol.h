// SPDX-License-Identifier: GPL-2.0
/*
 * The messages on the two pipes. A frame has its kind and the length of its payload, each 32 bits, then the payload. All
 * numbers are little-endian, as both processors are; structures have no holes. Times are in ns; times of flows and samples
 * are relative to the run's origin.
 *
 * This header is the one source of the format: `python -m netlab_kernel.wire_format` makes Python's layouts of it, and
 * wire_format.h with its hash.
 *
 * The program reads a start, then nodes, netlink messages, settings, interfaces to wait for and flows, then GO. It writes
 * progress and samples while the network's time passes, totals, then DONE; or at any time FAILED with a sentence.
 */
#ifndef NETLAB_PROTOCOL_H
#define NETLAB_PROTOCOL_H
#include <stdint.h>

struct frame {
	uint32_t kind;
	uint32_t length;
};

enum request {
	REQUEST_START = 1,	/* struct start */
	REQUEST_NODE,		/* nothing: make a network namespace and enter it */
	REQUEST_ENTER,		/* uint32_t: the number of the node for which the next requests are */
	REQUEST_NETLINK,	/* messages of rtnetlink, one after another */
	REQUEST_SETTING,	/* a path below /proc/sys, a zero, the value */
	REQUEST_WAIT,		/* an interface's name: it must have a carrier before GO */
	REQUEST_QUEUE,		/* struct sampled: an interface of this node whose queue is sampled */
	REQUEST_FLOW,		/* struct flow, then its label */
	REQUEST_GO,		/* struct go */
	REQUEST_TAP,		/* struct tap: report packets of one of this node's devices */
	REQUEST_SEED,		/* uint64_t: from now on the network's draws follow from it */
	REQUEST_AT,		/* struct at, then messages of rtnetlink to send at that time; in the order of time */
	/* Requests of a live network, instead of GO. NOW answers each. A flow that is added later begins at once or at its start. */
	REQUEST_BEGIN,		/* struct go, of which only the interval is used */
	REQUEST_ADVANCE,	/* struct advance */
	REQUEST_STOP,		/* uint32_t: the item whose flows end now */
	REQUEST_UNTAP,		/* uint32_t: the tap that stops reporting */
	REQUEST_TABLES,		/* nothing: totals as if all flows ended now */
	REQUEST_FINISH,		/* uint64_t: the time until which packets in flight may arrive */
	REQUEST_FORMAT,		/* nothing: report the hash of this header, by which versions differ */
	REQUEST_UNTIL,		/* uint64_t: sleep until this time of the kernel's clock */
	/* To ANSWER_CONTROL struct library_control. To ANSWER_PROGRAM struct program_reply, then the uint32_t size and the bytes of each
	 * datagram to send.
	 */
	REQUEST_REPLY,
};

struct start {
	uint64_t memory_bytes;
	uint64_t seed;
	uint64_t start_s;
};

struct sampled {
	uint32_t interface;	/* its number */
	uint32_t marks_word;	/* index of the counter of marks among the words of the queue's statistics; 0 for none */
};

struct tap {
	uint32_t outgoing;	/* 1: packets that leave the device; 0: packets that arrive */
	uint32_t snap_bytes;	/* of each packet, from its Ethernet header on */
	char device[16];
};

struct at {
	uint64_t at_ns;
	uint32_t node, zero;
};

struct advance {
	uint64_t until_ns;
	uint64_t progress_ns;	/* interval of its reports, or 0 */
};

#define MARKS_IN_TINS 0xffffffffu	/* sum the marks over CAKE's tins */

struct go {
	uint64_t duration_ns;
	uint64_t interval_ns;
	uint64_t drain_ns;
	uint64_t steps;
};

enum flow_kind { FLOW_TCP = 1, FLOW_UDP, FLOW_PING, FLOW_PROGRAM, FLOW_REQUESTS };

#define NONE UINT64_MAX

struct flow {
	uint32_t kind;
	uint32_t item;		/* index in the plan's traffic */
	uint32_t stream;	/* index of the connection of TCP or requests */
	uint32_t src, dst;	/* nodes */
	uint32_t address;	/* of dst, in network order */
	uint32_t port;		/* identifier of an echo */
	uint32_t payload_bytes;
	uint64_t start_ns, end_ns;
	uint64_t num_bytes;	/* TCP, or NONE */
	uint32_t window_bytes;	/* TCP, or 0 */
	uint32_t mss_bytes;	/* TCP, or 0; with its options, as TCP_MAXSEG has it */
	char congestion[16];	/* TCP, requests */
	uint64_t rate_bps;	/* UDP */
	uint32_t spread;	/* UDP: send at random times, drawn from this key */
	uint32_t key_words;
	uint32_t key[4];
	uint64_t interval_ns;	/* echo; requests, or 0 */
	uint64_t count;		/* echo or requests, or NONE */
	uint64_t request_bytes, response_bytes;	/* requests */
	uint64_t think_ns;	/* requests: from a response to the next request of its connection */
	uint64_t connections;	/* requests: number of connections that share them */
};

enum answer {
	ANSWER_FAILED = 1,	/* a sentence */
	ANSWER_PROGRESS,	/* uint64_t: the step that is done */
	ANSWER_STREAMS,		/* struct stream_sample, several */
	ANSWER_QUEUES,		/* struct queue_sample, several */
	ANSWER_TCP,		/* struct tcp_total */
	ANSWER_UDP,		/* struct udp_total, then its struct udp_interval */
	ANSWER_ECHOES,		/* uint32_t item, uint32_t 0, then struct echo, several */
	ANSWER_ERROR,		/* uint32_t item, uint32_t errno, then the name of the call that failed */
	ANSWER_DONE,		/* struct done, then the kernel's release */
	ANSWER_PACKETS,		/* uint32_t tap, uint32_t count, then count times struct packet with its bytes */
	ANSWER_NOW,		/* uint64_t: ns after the origin; uint64_t: the origin by CLOCK_REALTIME */
	ANSWER_FORMAT,		/* WIRE_FORMAT, without its zero */
	/* Questions. No network time passes until REQUEST_REPLY. */
	ANSWER_CONTROL,		/* struct library_state of a flow whose congestion control is "own" */
	ANSWER_PROGRAM,		/* struct program_question, then the datagram if one arrived */
	ANSWER_RESPONSES,	/* uint32_t item, uint32_t stream, then struct response, several */
};

enum program_event { PROGRAM_START, PROGRAM_DATAGRAM, PROGRAM_TIMER };

struct program_question {
	uint64_t now_ns;
	uint32_t port, event;
	uint32_t receives, zero;	/* 1 for the flow's receiver */
};

struct program_reply {
	uint64_t timer_ns;		/* expiry of its next timer, or NONE */
};

struct reading {
	uint64_t received_bytes;
	uint64_t sent_bytes;
	uint64_t delivery_rate;	/* bytes/s */
	uint32_t cwnd, ssthresh, rtt_us, rtt_min_us, retransmits, segments_out, segments_in, marks, timeouts, ca_state;
};

struct stream_sample {
	uint32_t item, stream, step, zero;
	struct reading reading;
};

struct queue_sample {
	uint32_t queue, step;
	uint32_t backlog_bytes, backlog_packets, drops, marks, sent_packets, zero;
	uint64_t sent_bytes;
};

struct tcp_total {
	uint32_t item, stream;
	uint32_t has_reading, zero;
	uint64_t connect_ns, first_ns, last_ns;	/* first is NONE if nothing arrived */
	struct reading reading;
};

struct udp_total {
	uint32_t item, drops;
	uint64_t sent_bytes, sent_datagrams, received_bytes, received_datagrams, duplicates, reordered;
	double jitter_ns;
	int64_t delay_min_ns, delay_max_ns, delay_sum_ns;
	uint64_t first_ns, last_ns;
	uint64_t timely_bytes, timely_datagrams, timely_duplicates, timely_last_ns;
};

struct udp_interval {
	uint64_t number, bytes, datagrams;
};

struct echo {
	uint64_t number, sent_ns, rtt_ns;	/* rtt is NONE if no reply arrived */
};

struct response {
	uint64_t number;		/* of its request in the flow, from 0 */
	uint64_t start_ns, end_ns;	/* sending of the request; arrival of the response's last byte, or NONE */
	uint32_t retransmits, timeouts;	/* of the server's connection, before */
};

/* The layout of a packet socket's ring (linux/if_packet.h, TPACKET_V3), so that Python reads both kernels' captures alike. */
struct packet {
	uint32_t size;			/* of this structure and its bytes; the next one begins there */
	uint32_t s, ns;			/* CLOCK_REALTIME */
	uint32_t kept, length;
	uint32_t status;
	uint16_t frame_at, network_at;	/* offset of its bytes */
	uint8_t padding[6];
	uint8_t flags, offload;		/* from flags on: struct virtio_net_hdr, just before the bytes */
	uint16_t head_bytes, part_bytes, checksum_from, checksum_at;
};

struct done {
	uint64_t now_ns, jumps, confined;
	uint64_t origin_ns;		/* of the run, by CLOCK_REALTIME */
};

#define CONFINED_FILES 1	/* Landlock */
#define CONFINED_CALLS 2	/* seccomp */
#endif
