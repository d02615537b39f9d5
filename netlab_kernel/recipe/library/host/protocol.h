// SPDX-License-Identifier: GPL-2.0
/*
 * What goes over the two pipes. A frame is its kind and the length of what follows, each 32 bits, then so many bytes.
 * All numbers are little-endian, as both processors are; structures have no holes. Times are ns: of flows and samples
 * after the run's origin.
 *
 * This header is the one source of the format: `python -m netlab_kernel.wire_format` makes Python's layouts of it, and
 * wire_format.h with its hash.
 *
 * In: a start, then nodes, netlink messages, settings, interfaces to wait for and flows, then GO. Out: progress and
 * samples while the network's time passes, totals, then DONE; or FAILED with a sentence, at any moment.
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
	REQUEST_NODE,		/* nothing: one more network namespace, and enter it */
	REQUEST_ENTER,		/* uint32_t: the number of the node that what follows is for */
	REQUEST_NETLINK,	/* messages of rtnetlink, one after another */
	REQUEST_SETTING,	/* a path below /proc/sys, a zero, the value */
	REQUEST_WAIT,		/* an interface's name: it must have a carrier before GO */
	REQUEST_QUEUE,		/* struct sampled: an interface of this node whose queue is sampled */
	REQUEST_FLOW,		/* struct flow, then its label */
	REQUEST_GO,		/* struct go */
	REQUEST_TAP,		/* struct tap: packets of one of this node's devices are told */
	REQUEST_SEED,		/* uint64_t: from now on the network's draws follow from it */
	REQUEST_AT,		/* struct at, then messages of rtnetlink that it is sent then, in the order of time */
	/* Instead of GO, one by one; each is answered by NOW. A flow that comes later begins at once or at its start. */
	REQUEST_BEGIN,		/* struct go, of which the interval counts */
	REQUEST_ADVANCE,	/* struct advance */
	REQUEST_STOP,		/* uint32_t: the item whose flows end now */
	REQUEST_UNTAP,		/* uint32_t: which tap tells no more */
	REQUEST_TABLES,		/* nothing: totals as if all flows ended now */
	REQUEST_FINISH,		/* uint64_t: what is in flight may arrive until then */
	REQUEST_FORMAT,		/* nothing: the hash of this header, which tells versions apart */
	REQUEST_UNTIL,		/* uint64_t: what follows is for this moment of the kernel's clock */
	REQUEST_REPLY,		/* to ANSWER_CONTROL struct library_control; to ANSWER_PROGRAM struct told, then each uint32_t bytes, bytes */
};

struct start {
	uint64_t memory_bytes;
	uint64_t seed;
	uint64_t start_s;
};

struct sampled {
	uint32_t interface;	/* its number */
	uint32_t marks_word;	/* which word of the queue's own statistics counts marks; 0 for none */
};

struct tap {
	uint32_t outgoing;	/* what leaves the device, or else what comes in */
	uint32_t snap_bytes;	/* of each packet, from its Ethernet header on */
	char device[16];
};

struct at {
	uint64_t at_ns;
	uint32_t node, zero;
};

struct advance {
	uint64_t until_ns;
	uint64_t progress_ns;	/* how often it is told, or 0 */
};

#define MARKS_IN_TINS 0xffffffffu	/* CAKE's marks: the sum over its tins */

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
	uint32_t item;		/* which of the plan's traffic */
	uint32_t stream;	/* of the connections of TCP or requests, which */
	uint32_t src, dst;	/* nodes */
	uint32_t address;	/* of dst, in network order */
	uint32_t port;		/* for an echo, its identifier */
	uint32_t payload_bytes;
	uint64_t start_ns, end_ns;
	uint64_t num_bytes;	/* TCP, or NONE */
	uint32_t window_bytes;	/* TCP, or 0 */
	uint32_t mss_bytes;	/* TCP, or 0; with its options, as TCP_MAXSEG has it */
	char congestion[16];	/* TCP, requests */
	uint64_t rate_bps;	/* UDP */
	uint32_t spread;	/* UDP: at random moments, from this key */
	uint32_t key_words;
	uint32_t key[4];
	uint64_t interval_ns;	/* echo; requests, or 0 */
	uint64_t count;		/* echo or requests, or NONE */
	uint64_t request_bytes, response_bytes;	/* requests */
	uint64_t think_ns;	/* requests: from a response to the next request of its connection */
	uint64_t connections;	/* requests: how many share them */
};

enum answer {
	ANSWER_FAILED = 1,	/* a sentence */
	ANSWER_PROGRESS,	/* uint64_t: the step that is done */
	ANSWER_STREAMS,		/* struct stream_sample, several */
	ANSWER_QUEUES,		/* struct queue_sample, several */
	ANSWER_TCP,		/* struct tcp_total */
	ANSWER_UDP,		/* struct udp_total, then its struct udp_interval */
	ANSWER_ECHOES,		/* uint32_t item, uint32_t 0, then struct echo, several */
	ANSWER_ERROR,		/* uint32_t item, uint32_t errno, then what was tried */
	ANSWER_DONE,		/* struct done, then the kernel's release */
	ANSWER_PACKETS,		/* uint32_t: which tap; uint32_t: how many; then so many struct packet, each with its bytes */
	ANSWER_NOW,		/* uint64_t: ns after the origin; uint64_t: the origin by CLOCK_REALTIME */
	ANSWER_FORMAT,		/* WIRE_FORMAT, without its zero */
	/* Questions: the network stands still until REQUEST_REPLY. */
	ANSWER_CONTROL,		/* struct library_state: of a flow whose congestion control is "own" */
	ANSWER_PROGRAM,		/* struct happened, then a datagram where one came */
	ANSWER_RESPONSES,	/* uint32_t item, uint32_t stream, then struct response, several */
};

enum program_event { PROGRAM_START, PROGRAM_DATAGRAM, PROGRAM_TIMER };

struct happened {
	uint64_t now_ns;
	uint32_t port, event;
	uint32_t receives, zero;	/* which end of the flow */
};

struct told {
	uint64_t timer_ns;		/* when it wants to be woken next, or NONE */
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
	uint64_t connect_ns, first_ns, last_ns;	/* first is NONE where nothing came */
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
	uint64_t number, sent_ns, rtt_ns;	/* rtt is NONE where no reply came */
};

struct response {
	uint64_t number;		/* of its request in the flow, from 0 */
	uint64_t start_ns, end_ns;	/* the request was sent; the last byte of the response came, or NONE */
	uint32_t retransmits, timeouts;	/* of the server's connection, before */
};

/* As the kernel's ring has them (linux/if_packet.h, TPACKET_V3), so that both kernels' captures are read alike. */
struct packet {
	uint32_t size;			/* of this and its bytes: where the next one begins */
	uint32_t s, ns;			/* CLOCK_REALTIME */
	uint32_t kept, length;
	uint32_t status;
	uint16_t frame_at, network_at;	/* where its bytes begin */
	uint8_t padding[6];
	uint8_t flags, offload;		/* struct virtio_net_hdr, just before the bytes */
	uint16_t head_bytes, part_bytes, checksum_from, checksum_at;
};

struct done {
	uint64_t now_ns, jumps, confined;
	uint64_t origin_ns;		/* of the run, by CLOCK_REALTIME */
};

#define CONFINED_FILES 1	/* Landlock */
#define CONFINED_CALLS 2	/* seccomp */
#endif
