// SPDX-License-Identifier: GPL-2.0
/* The books of one UDP flow: the same sums, from the same numbers, as StreamAccount keeps in Python. */
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "protocol.h"

#define MAX_GAPS 65536

static void open_gap(struct books *books, uint64_t start, uint64_t end)
{
	if (books->gap_count >= MAX_GAPS) {
		/* Bounded memory: what is missing for longest is given up as lost. */
		books->gap_count -= MAX_GAPS / 2;
		memmove(books->gaps, books->gaps + MAX_GAPS / 2, books->gap_count * sizeof(*books->gaps));
	}
	/* Room for one more: closing a gap in its middle makes two of it. */
	if (books->gap_count + 2 > books->gap_room) {
		struct gap *more = allocate((books->gap_room = 2 * books->gap_room + 16) * sizeof(*more));

		if (books->gap_count)
			memcpy(more, books->gaps, books->gap_count * sizeof(*more));
		free(books->gaps);
		books->gaps = more;
	}
	books->gaps[books->gap_count++] = (struct gap){ start, end };
}

/* Take a number out of the open gaps; 0 when it is in none. */
static int close_gap(struct books *books, uint64_t seq)
{
	size_t low = 0, high = books->gap_count;
	struct gap *gap, whole;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (books->gaps[middle].start <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || seq >= books->gaps[low - 1].end)
		return 0;
	gap = &books->gaps[low - 1];
	whole = *gap;
	if (whole.start == seq && whole.end == seq + 1) {
		memmove(gap, gap + 1, (books->gap_count - low) * sizeof(*gap));
		books->gap_count--;
	} else if (whole.start == seq) {
		gap->start = seq + 1;
	} else if (whole.end == seq + 1) {
		gap->end = seq;
	} else {
		gap->end = seq;
		open_gap(books, 0, 0);
		gap = &books->gaps[low];
		memmove(gap + 1, gap, (books->gap_count - 1 - low) * sizeof(*gap));
		*gap = (struct gap){ seq + 1, whole.end };
	}
	return 1;
}

void book(struct books *books, uint64_t seq, uint64_t sent_ns, uint64_t arrival_ns, uint64_t bytes)
{
	int64_t transit_ns = (int64_t)(arrival_ns - sent_ns);
	uint64_t number;

	if (seq >= books->next_seq) {
		if (seq > books->next_seq)
			open_gap(books, books->next_seq, seq);
		books->next_seq = seq + 1;
	} else if (close_gap(books, seq)) {
		books->reordered++;
	} else {
		books->duplicates++;
		if (books->received_datagrams && arrival_ns < books->first_ns + books->timely_ns)
			books->timely_duplicates++;
		return;
	}
	if (!books->received_datagrams) {
		books->first_ns = arrival_ns;
		books->last_transit_ns = books->delay_min_ns = books->delay_max_ns = transit_ns;
	}
	if (transit_ns < books->delay_min_ns)
		books->delay_min_ns = transit_ns;
	if (transit_ns > books->delay_max_ns)
		books->delay_max_ns = transit_ns;
	books->delay_sum_ns += transit_ns;
	/* RFC 3550, section 6.4.1. */
	books->jitter_ns += ((double)llabs(transit_ns - books->last_transit_ns) - books->jitter_ns) / 16;
	books->last_transit_ns = transit_ns;
	books->last_ns = arrival_ns;
	books->received_datagrams++;
	books->received_bytes += bytes;
	if (arrival_ns < books->first_ns + books->timely_ns) {
		books->timely_datagrams++;
		books->timely_bytes += bytes;
		books->timely_last_ns = arrival_ns;
	}
	number = (arrival_ns - books->origin_ns) / books->interval_ns;
	if (arrival_ns >= books->origin_ns && number >= books->interval_count && books->grows) {
		struct udp_interval *more = allocate(2 * (number + 1) * sizeof(*more));

		memcpy(more, books->intervals, books->interval_count * sizeof(*more));
		free(books->intervals);
		books->intervals = more;
		books->interval_count = 2 * (number + 1);
	}
	if (arrival_ns >= books->origin_ns && number < books->interval_count) {
		books->intervals[number].bytes += bytes;
		books->intervals[number].datagrams++;
	}
}
