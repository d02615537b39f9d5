// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's counters of one UDP stream. They must equal the ones of StreamCounters in netlab_engines/sockets/datagrams.py,
 * so that both kernels give the same results.
 */
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "protocol.h"

#define MAX_GAPS 65536

static void open_gap(struct stream_counters *counters, uint64_t start, uint64_t end)
{
	if (counters->gap_count >= MAX_GAPS) {
		/* The oldest gaps count as lost, so that memory stays bounded. */
		counters->gap_count -= MAX_GAPS / 2;
		memmove(counters->gaps, counters->gaps + MAX_GAPS / 2, counters->gap_count * sizeof(*counters->gaps));
	}
	/* Allocate one more than needed, because a number in the middle of a gap splits it into two. */
	if (counters->gap_count + 2 > counters->gap_capacity) {
		struct gap *more = allocate((counters->gap_capacity = 2 * counters->gap_capacity + 16) * sizeof(*more));

		if (counters->gap_count)
			memcpy(more, counters->gaps, counters->gap_count * sizeof(*more));
		free(counters->gaps);
		counters->gaps = more;
	}
	counters->gaps[counters->gap_count++] = (struct gap){ start, end };
}

/* Remove a sequence number from the open gaps. Returns 0 if it is in none. */
static int close_gap(struct stream_counters *counters, uint64_t seq)
{
	size_t low = 0, high = counters->gap_count;
	struct gap *gap, whole;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (counters->gaps[middle].start <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || seq >= counters->gaps[low - 1].end)
		return 0;
	gap = &counters->gaps[low - 1];
	whole = *gap;
	if (whole.start == seq && whole.end == seq + 1) {
		memmove(gap, gap + 1, (counters->gap_count - low) * sizeof(*gap));
		counters->gap_count--;
	} else if (whole.start == seq) {
		gap->start = seq + 1;
	} else if (whole.end == seq + 1) {
		gap->end = seq;
	} else {
		gap->end = seq;
		open_gap(counters, 0, 0);
		gap = &counters->gaps[low];
		memmove(gap + 1, gap, (counters->gap_count - 1 - low) * sizeof(*gap));
		*gap = (struct gap){ seq + 1, whole.end };
	}
	return 1;
}

void count_datagram(struct stream_counters *counters, uint64_t seq, uint64_t sent_ns, uint64_t arrival_ns, uint64_t bytes)
{
	int64_t transit_ns = (int64_t)(arrival_ns - sent_ns);
	uint64_t number;

	if (seq >= counters->next_seq) {
		if (seq > counters->next_seq)
			open_gap(counters, counters->next_seq, seq);
		counters->next_seq = seq + 1;
	} else if (close_gap(counters, seq)) {
		counters->reordered++;
	} else {
		counters->duplicates++;
		if (counters->received_datagrams && arrival_ns < counters->first_ns + counters->timely_ns)
			counters->timely_duplicates++;
		return;
	}
	if (!counters->received_datagrams) {
		counters->first_ns = arrival_ns;
		counters->last_transit_ns = counters->delay_min_ns = counters->delay_max_ns = transit_ns;
	}
	if (transit_ns < counters->delay_min_ns)
		counters->delay_min_ns = transit_ns;
	if (transit_ns > counters->delay_max_ns)
		counters->delay_max_ns = transit_ns;
	counters->delay_sum_ns += transit_ns;
	/* The formula is in RFC 3550, section 6.4.1. */
	counters->jitter_ns += ((double)llabs(transit_ns - counters->last_transit_ns) - counters->jitter_ns) / 16;
	counters->last_transit_ns = transit_ns;
	counters->last_ns = arrival_ns;
	counters->received_datagrams++;
	counters->received_bytes += bytes;
	if (arrival_ns < counters->first_ns + counters->timely_ns) {
		counters->timely_datagrams++;
		counters->timely_bytes += bytes;
		counters->timely_last_ns = arrival_ns;
	}
	number = (arrival_ns - counters->origin_ns) / counters->interval_ns;
	if (arrival_ns >= counters->origin_ns && number >= counters->interval_count && counters->grows) {
		struct udp_interval *more = allocate(2 * (number + 1) * sizeof(*more));

		memcpy(more, counters->intervals, counters->interval_count * sizeof(*more));
		free(counters->intervals);
		counters->intervals = more;
		counters->interval_count = 2 * (number + 1);
	}
	if (arrival_ns >= counters->origin_ns && number < counters->interval_count) {
		counters->intervals[number].bytes += bytes;
		counters->intervals[number].datagrams++;
	}
}
