// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers that traffic.c shares with netlab's Python senders and receivers (netlab_engines/sockets, agent/flows).
 * `python -m netlab_kernel.wire_format` makes netlab_engines/sockets/constants.py of them.
 */
#ifndef NETLAB_TRAFFIC_H
#define NETLAB_TRAFFIC_H

#define SEND_CHUNK_BYTES (1u << 20)
#define PAYLOAD_PERIOD_BYTES (1u << 16)
#define RECEIVE_CHUNK_BYTES (32u << 20)
#define READ_EVERY_NS 1000000ull
#define SHORT_RTT_US 1000
#define MAX_UNREAD_BYTES (4 << 20)
#define CONNECT_TIMEOUT_S 60
#define UDP_SEND_BUFFER_BYTES (1 << 28)	/* of the sender's socket */
#define UDP_RECEIVE_BUFFER_BYTES (32 << 20)
#define UDP_BURST_NS 1000000ull	/* longest time whose datagrams may leave back to back */
#define MEASUREMENT_HEADER_BYTES 20	/* first bytes of a datagram's payload: stream id (4), sequence number (8), time of sending (8) */
#define SETTLE_NS 10000000ull	/* from the last step of the set-up to the traffic, at least */
/*
 * The kernel's timers of more than 63 ms expire at multiples of 8, 64 or 512 ms since its boot (the levels of its timer
 * wheel). The start of traffic must have the same offset to them, however long the network took to build; a multiple of
 * 4096 ms has offset 0 to all. The start is also at one time in every kernel (or at a multiple of it), because initial
 * sequence numbers follow from the clock.
 */
#define TRAFFIC_AT_NS 16384000000ull

#endif
