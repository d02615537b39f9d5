// SPDX-License-Identifier: GPL-2.0
/* Captured packets of the taps, collected in blocks of some hundred packets for each answer. */
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "protocol.h"

#define BLOCK_BYTES (1u << 18)

struct block {
	uint32_t packets, used;
	int closed;
	unsigned char *bytes;
};

static struct block *blocks;
static unsigned int count, capacity;

void add_tap(const struct tap *tap)
{
	char device[sizeof(tap->device) + 1] = { 0 };

	memcpy(device, tap->device, sizeof(tap->device));
	if (count == capacity) {
		struct block *more = allocate((capacity = 2 * capacity + 16) * sizeof(*more));

		if (count)
			memcpy(more, blocks, count * sizeof(*more));
		free(blocks);
		blocks = more;
	}
	blocks[count].bytes = allocate(BLOCK_BYTES);
	must(library_tap(device, count++, tap->outgoing, tap->snap_bytes), "capture packets");
}

static void report_block(unsigned int number)
{
	struct block *block = &blocks[number];
	uint32_t head[2] = { number, block->packets };

	if (block->packets)
		answer(ANSWER_PACKETS, head, sizeof(head), block->bytes, block->used);
	block->packets = block->used = 0;
}

void report_packets(void)
{
	for (unsigned int i = 0; i < count; i++)
		report_block(i);
}

/* Close a tap. The kernel still hands over its packets, which are discarded from now on. */
void close_tap(uint32_t number)
{
	if (number >= count)
		fail("There is no tap %u.", number);
	report_block(number);
	blocks[number].closed = 1;
}

void *host_packet(const struct library_packet *given)
{
	struct packet packet = {
		.size = (sizeof(packet) + given->kept + 15) & ~15u,
		.s = given->time_ns / NS_PER_S,
		.ns = given->time_ns % NS_PER_S,
		.kept = given->kept,
		.length = given->length,
		.frame_at = sizeof(packet),
		.offload = given->offload,
		.part_bytes = given->part_bytes,
	};
	struct block *block = &blocks[given->tap];
	unsigned char *at;

	if (block->closed)
		return block->bytes;
	if (block->used + packet.size > BLOCK_BYTES)
		report_block(given->tap);
	at = block->bytes + block->used;
	memcpy(at, &packet, sizeof(packet));
	block->used += packet.size;
	block->packets++;
	return at + sizeof(packet);
}
