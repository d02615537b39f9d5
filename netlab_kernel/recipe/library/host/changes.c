// SPDX-License-Identifier: GPL-2.0
/* Changes of links while the traffic runs: a thread of its own sends netlink messages at their times. */
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "protocol.h"

struct batch {
	struct at at;
	size_t bytes;
	void *messages;
};

static struct batch *batches;
static size_t batch_count, batch_capacity, made;
static int following;

void add_batch(const struct at *at, const void *messages, size_t bytes)
{
	struct batch *batch;

	if (batch_count == batch_capacity) {
		struct batch *more = allocate((batch_capacity = 2 * batch_capacity + 64) * sizeof(*more));

		if (batch_count)
			memcpy(more, batches, batch_count * sizeof(*more));
		free(batches);
		batches = more;
	}
	batch = &batches[batch_count++];
	*batch = (struct batch){ *at, bytes, allocate(bytes) };
	memcpy(batch->messages, messages, bytes);
}

static void make_change(void)
{
	struct batch *batch = &batches[made++];

	enter_node(batch->at.node);
	send_netlink(batch->messages, batch->bytes);
	free(batch->messages);
}

/* Make the changes of time 0, which must come before the traffic starts. */
void make_first_changes(void)
{
	while (made < batch_count && !batches[made].at.at_ns)
		make_change();
}

static int follow(void *nothing)
{
	(void)nothing;
	while (made < batch_count) {
		sleep_until(origin_ns + batches[made].at.at_ns);
		make_change();
	}
	following = 0;
	return 0;
}

void follow_changes(void)
{
	if (following || made == batch_count)
		return;
	following = 1;
	must(library_thread(follow, NULL), "start a thread");
}
