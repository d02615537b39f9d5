// SPDX-License-Identifier: GPL-2.0
/* Nodes (network namespaces), their configuration over netlink, and the statistics of their queues. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "kernel.h"
#include "protocol.h"

#define NEW_NETWORK 0x40000000	/* CLONE_NEWNET */
#define GET_NAMESPACE 0x894C	/* SIOCGSKNS */
#define TIMER_SLACK 29		/* PR_SET_TIMERSLACK */
#define MAX_NODES 65536
#define MAX_FILES 900000
#define FIRST_NODE_FILE 16	/* plus the node's number: descriptor of its namespace; Python relies on it */
#define TIMEOUT_NS (10 * NS_PER_S)
#define PAUSE_NS (20 * NS_PER_MS)
#define TBF_HANDLE 0x10000u	/* "1:" */
#define QUEUE_HANDLE 0x20000u	/* "2:" */
#define MARKED_PACKETS 8	/* TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS */
#define TIN_STATS 10		/* TCA_CAKE_STATS_TIN_STATS */

struct queue {
	int node;
	struct sampled sampled;
};

struct interface {
	int node;
	char name[16];
};

static int nodes, current_node = -1;
static int *node_netlink;		/* a netlink socket in each node, or -1 */
static struct interface *waiting;
static size_t waiting_count, waiting_capacity;
static struct queue *queues;
static size_t queue_count, queue_capacity;

void prepare_control(void)
{
	uint64_t files[2] = { MAX_FILES, MAX_FILES };

	node_netlink = allocate(MAX_NODES * sizeof(*node_netlink));
	for (int i = 0; i < MAX_NODES; i++)
		node_netlink[i] = -1;
	must(call(mkdirat, AT_FDCWD, "/proc", 0555), "make /proc");
	must(call(mount, "proc", "/proc", "proc", 0, NULL), "mount /proc");
	/* A run may have thousands of threads with several sockets each. */
	must(call(prlimit64, 0, 7 /* RLIMIT_NOFILE */, files, NULL), "allow many open files");
	/* Threads inherit the slack. With the default one, a flow would start up to 50 us late. */
	must(call(prctl, TIMER_SLACK, 1), "forbid timers to be late");
}

int add_node(void)
{
	int any, space;

	if (nodes == MAX_NODES)
		fail("A network has at most %d nodes.", MAX_NODES);
	must(call(unshare, NEW_NETWORK), "make a network namespace");
	any = must(call(socket, AF_INET, SOCK_DGRAM, 0), "open a socket");
	space = must(call(ioctl, any, GET_NAMESPACE), "open a network namespace");
	must(call(dup3, space, FIRST_NODE_FILE + nodes, 0), "keep a network namespace");
	call(close, space);
	call(close, any);
	current_node = nodes++;
	return current_node;
}

void enter_node(int node)
{
	if (node < 0 || node >= nodes)
		fail("There is no node %d.", node);
	/* Enter the node even if it is the current one, because a new thread begins in its parent's namespace. */
	must(call(setns, FIRST_NODE_FILE + node, NEW_NETWORK), "enter a network namespace");
	current_node = node;
}

static int netlink_socket(void)
{
	int one = 1, space = 1 << 20;

	if (node_netlink[current_node] < 0) {
		node_netlink[current_node] = must(call(socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), "open a netlink socket");
		call(setsockopt, node_netlink[current_node], SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
		call(setsockopt, node_netlink[current_node], SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
		call(setsockopt, node_netlink[current_node], SOL_SOCKET, SO_RCVBUFFORCE, &space, sizeof(space));
	}
	return node_netlink[current_node];
}

/* Return the kernel's explanation of why it refused a message, or an empty text. */
static const char *error_text(const struct nlmsghdr *header)
{
	const char *attributes = (const char *)NLMSG_DATA(header) + sizeof(struct nlmsgerr);
	long left = (const char *)header + header->nlmsg_len - attributes;

	for (const struct nlattr *a = (const struct nlattr *)attributes; left >= (long)sizeof(*a) && a->nla_len >= sizeof(*a);
	     left -= NLA_ALIGN(a->nla_len), a = (const struct nlattr *)((const char *)a + NLA_ALIGN(a->nla_len)))
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			return (const char *)(a + 1);
	return "";
}

/*
 * Send requests, numbered from 0. The last one asks for an acknowledgement, which ends the wait; the kernel reports errors
 * without being asked.
 */
void send_netlink(const void *messages, size_t bytes)
{
	static char buffer[1 << 16];
	int netlink = netlink_socket();
	uint32_t last = 0;

	for (const struct nlmsghdr *h = messages; NLMSG_OK(h, bytes - ((const char *)h - (const char *)messages));
	     h = (const void *)((const char *)h + NLMSG_ALIGN(h->nlmsg_len)))
		last = h->nlmsg_seq;
	must(call(sendto, netlink, messages, bytes, 0, NULL, 0), "send netlink messages");
	for (;;) {
		long got = must(call(recvfrom, netlink, buffer, sizeof(buffer), 0, NULL, NULL), "receive the answers to netlink messages");

		for (struct nlmsghdr *h = (struct nlmsghdr *)buffer; NLMSG_OK(h, got); h = NLMSG_NEXT(h, got)) {
			const struct nlmsgerr *error = NLMSG_DATA(h);

			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			/* Python knows the message by its number and explains the error. */
			if (error->error)
				fail("netlink %d %u %s%s%s", current_node, h->nlmsg_seq, strerror(-error->error),
				     *error_text(h) ? ": " : "", error_text(h));
			if (h->nlmsg_seq == last)
				return;
		}
	}
}

void write_setting(const char *path, const char *value)
{
	char whole[256] = "/proc/sys/";
	long file, done;

	strncat(whole, path, sizeof(whole) - strlen(whole) - 1);
	file = call(openat, AT_FDCWD, whole, O_WRONLY);
	done = file < 0 ? file : call(write, file, value, strlen(value));
	if (done < 0)
		fail("setting %d %s %s", current_node, path, strerror(-done));
	call(close, file);
}

void wait_for(const char *interface)
{
	if (waiting_count == waiting_capacity) {
		struct interface *more = allocate((waiting_capacity = 2 * waiting_capacity + 16) * sizeof(*more));

		if (waiting_count)
			memcpy(more, waiting, waiting_count * sizeof(*more));
		free(waiting);
		waiting = more;
	}
	waiting[waiting_count].node = current_node;
	strncpy(waiting[waiting_count++].name, interface, sizeof(waiting->name) - 1);
}

static const struct rtattr *attribute(const void *first, long bytes, int type)
{
	for (const struct rtattr *a = first; RTA_OK(a, bytes); a = RTA_NEXT(a, bytes))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

/* IFLA_OPERSTATE and not IFF_RUNNING, which the kernel also sets before it has determined the state. */
static int is_up(const char *interface)
{
	static char buffer[1 << 14];
	struct {
		struct nlmsghdr header;
		struct ifinfomsg message;
		struct rtattr attribute;
		char name[16];
	} request = { .header = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
		      .attribute = { .rta_len = RTA_LENGTH(sizeof(request.name)), .rta_type = IFLA_IFNAME } };
	const struct nlmsghdr *header = (struct nlmsghdr *)buffer;
	const struct rtattr *state;
	long got;

	memcpy(request.name, interface, sizeof(request.name));
	must(call(sendto, netlink_socket(), &request, sizeof(request), 0, NULL, 0), "ask for an interface's state");
	got = must(call(recvfrom, netlink_socket(), buffer, sizeof(buffer), 0, NULL, NULL), "receive an interface's state");
	if (!NLMSG_OK(header, got) || header->nlmsg_type != RTM_NEWLINK)
		fail("There is no interface %s.", interface);
	state = attribute(IFLA_RTA(NLMSG_DATA(header)), IFLA_PAYLOAD(header), IFLA_OPERSTATE);
	return state && *(unsigned char *)RTA_DATA(state) == IF_OPER_UP;
}

/*
 * Wait until the interfaces can send. The kernel notices the carrier of a veth's peer up to a second late, and then a hundred of
 * them per second; until then the veth drops packets.
 */
void wait_for_interfaces(void)
{
	uint64_t deadline_ns = now_ns() + TIMEOUT_NS + waiting_count * PAUSE_NS;

	for (size_t i = 0; i < waiting_count; i++) {
		if (waiting[i].node != current_node)
			enter_node(waiting[i].node);
		while (!is_up(waiting[i].name)) {
			if (now_ns() > deadline_ns)
				fail("The interface %s did not come up.", waiting[i].name);
			sleep_until(now_ns() + PAUSE_NS);
		}
	}
}

void add_queue(const struct sampled *sampled)
{
	if (queue_count == queue_capacity) {
		struct queue *more = allocate((queue_capacity = 2 * queue_capacity + 16) * sizeof(*more));

		if (queue_count)
			memcpy(more, queues, queue_count * sizeof(*more));
		free(queues);
		queues = more;
	}
	queues[queue_count++] = (struct queue){ current_node, *sampled };
}

/* Return the number of packets that a queue discipline marked, from its statistics (tc_*_xstats in linux/pkt_sched.h). */
static uint32_t marks_of(uint32_t word, const struct rtattr *own)
{
	const struct rtattr *tins;
	uint32_t marks = 0;
	long left;

	if (!own || !word)
		return 0;
	if (word != MARKS_IN_TINS)
		return RTA_PAYLOAD(own) >= 4 * (word + 1ul) ? ((uint32_t *)RTA_DATA(own))[word] : 0;
	tins = attribute(RTA_DATA(own), RTA_PAYLOAD(own), TIN_STATS);
	left = tins ? RTA_PAYLOAD(tins) : 0;
	for (const struct rtattr *tin = tins ? RTA_DATA(tins) : NULL; tin && RTA_OK(tin, left); tin = RTA_NEXT(tin, left)) {
		const struct rtattr *marked = attribute(RTA_DATA(tin), RTA_PAYLOAD(tin), MARKED_PACKETS);

		if (marked)
			marks += *(uint32_t *)RTA_DATA(marked);
	}
	return marks;
}

static int read_qdisc(const struct nlmsghdr *header, uint32_t marks_word, struct queue_sample *sample)
{
	const struct tcmsg *message = NLMSG_DATA(header);
	long bytes = header->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	const struct rtattr *all = attribute(TCA_RTA(message), bytes, TCA_STATS2);
	const struct rtattr *part;

	if (!all)
		return 0;
	if (message->tcm_handle == TBF_HANDLE) {
		part = attribute(RTA_DATA(all), RTA_PAYLOAD(all), TCA_STATS_BASIC);
		if (part) {
			memcpy(&sample->sent_bytes, RTA_DATA(part), sizeof(sample->sent_bytes));
			memcpy(&sample->sent_packets, (char *)RTA_DATA(part) + 8, sizeof(sample->sent_packets));
		}
		return 1;
	}
	part = attribute(RTA_DATA(all), RTA_PAYLOAD(all), TCA_STATS_QUEUE);
	if (part) {
		struct gnet_stats_queue { uint32_t packets, bytes, drops, requeues, overlimits; } queue;

		memcpy(&queue, RTA_DATA(part), sizeof(queue));
		sample->backlog_packets = queue.packets;
		sample->backlog_bytes = queue.bytes;
		sample->drops = queue.drops;
	}
	sample->marks = marks_of(marks_word, attribute(RTA_DATA(all), RTA_PAYLOAD(all), TCA_STATS_APP));
	return 1;
}

/* Sample a queue. Returns 0 if there is none, because a link may get its queue later. */
static int sample_queue(const struct queue *queue, struct queue_sample *sample)
{
	static char buffer[1 << 15];
	struct {
		struct nlmsghdr header;
		struct tcmsg message;
	} requests[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
	int netlink, missing = 2, found = 0;

	if (queue->node != current_node)
		enter_node(queue->node);
	netlink = netlink_socket();
	for (int i = 0; i < 2; i++) {
		requests[i].header.nlmsg_len = sizeof(requests[i]);
		requests[i].header.nlmsg_type = RTM_GETQDISC;
		/* Without NLM_F_ECHO the kernel would send the answer only to listeners of the multicast group. */
		requests[i].header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;
		requests[i].message.tcm_ifindex = queue->sampled.interface;
		requests[i].message.tcm_handle = i ? QUEUE_HANDLE : TBF_HANDLE;
	}
	must(call(sendto, netlink, requests, sizeof(requests), 0, NULL, 0), "ask for a queue's statistics");
	while (missing) {
		long got = must(call(recvfrom, netlink, buffer, sizeof(buffer), 0, NULL, NULL), "receive a queue's statistics");

		for (struct nlmsghdr *h = (struct nlmsghdr *)buffer; NLMSG_OK(h, got); h = NLMSG_NEXT(h, got)) {
			if (h->nlmsg_type == RTM_NEWQDISC)
				found += read_qdisc(h, queue->sampled.marks_word, sample);
			else if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			missing--;
		}
	}
	return found;
}

void sample_queues(uint32_t step)
{
	static struct queue_sample samples[512];
	size_t ready = 0;

	for (size_t i = 0; i < queue_count; i++) {
		samples[ready] = (struct queue_sample){ .queue = i, .step = step };
		ready += sample_queue(&queues[i], &samples[ready]) > 0;
		if (ready && (ready == sizeof(samples) / sizeof(*samples) || i + 1 == queue_count)) {
			answer(ANSWER_QUEUES, samples, ready * sizeof(*samples), NULL, 0);
			ready = 0;
		}
	}
}
