// SPDX-License-Identifier: GPL-2.0
/*
 * Taps: they copy packets of a device to the host program, as into a packet socket's ring. They copy at once, because a
 * reference to the buffer would change what TCP can do with it, and so the results.
 */
#include <linux/if_packet.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/virtio_net.h>
#include <asm/host.h>

struct tap {
	struct packet_type type;
	unsigned int number;
	unsigned int snap_bytes;
	bool outgoing;
};

/* Describe a segment that a network card would split: its kind and the size of the parts. */
static void set_offload(const struct sk_buff *skb, struct library_packet *packet)
{
	if (!skb_is_gso(skb))
		return;
	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4)
		packet->offload = VIRTIO_NET_HDR_GSO_TCPV4;
	else if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		packet->offload = VIRTIO_NET_HDR_GSO_UDP_L4;
	packet->part_bytes = skb_shinfo(skb)->gso_size;
}

static int on_packet(struct sk_buff *skb, struct net_device *device, struct packet_type *type,
		     struct net_device *original)
{
	struct tap *tap = container_of(type, struct tap, type);
	/* An arriving packet has its Ethernet header in front of its data. */
	unsigned int head = skb->data - skb_mac_header(skb);
	struct library_packet packet = { .tap = tap->number };

	if ((skb->pkt_type == PACKET_OUTGOING) == tap->outgoing) {
		skb_push(skb, head);
		packet.time_ns = ktime_get_real_ns();
		packet.length = skb->len;
		packet.kept = min(skb->len, tap->snap_bytes);
		set_offload(skb, &packet);
		skb_copy_bits(skb, 0, host_packet(&packet), packet.kept);
		skb_pull(skb, head);
	}
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

long library_tap(const char *device, unsigned int number, int outgoing, unsigned int snap_bytes)
{
	struct tap *tap = kzalloc(sizeof(*tap), GFP_KERNEL);

	if (!tap)
		return -ENOMEM;
	tap->type.dev = dev_get_by_name(current->nsproxy->net_ns, device);
	if (!tap->type.dev) {
		kfree(tap);
		return -ENODEV;
	}
	tap->type.type = htons(ETH_P_ALL);
	tap->type.func = on_packet;
	tap->number = number;
	tap->outgoing = outgoing;
	tap->snap_bytes = snap_bytes;
	dev_add_pack(&tap->type);
	return 0;
}
