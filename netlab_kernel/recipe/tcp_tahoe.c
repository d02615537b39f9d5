// SPDX-License-Identifier: GPL-2.0
/*
 * TCP Tahoe: slow start, congestion avoidance, fast retransmit, and no fast recovery.
 *
 * Definition followed here
 *   V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988 (appendices B and D): on a loss
 *     ssthresh = half the window in flight, cwnd = 1 segment; cwnd then grows by one segment for
 *     each segment acknowledged below ssthresh, and by one segment per window above it.
 *   K. Fall and S. Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3),
 *     1996 (section 2): Tahoe retransmits at the third duplicate acknowledgement as well, and again
 *     restarts from slow start.
 *
 * Tahoe reacts alike to each signal of congestion: third duplicate ACK (or a loss that RACK marks), timeout,
 * ECN echo, loss repaired by a tail probe. It reacts at most once per window of data, as the rest of
 * Linux does ("recover" of RFC 6582), but to each timeout.
 *
 * Linux' own reduction (PRR) and its end (cwnd = ssthresh) are what Tahoe must not do, and
 * a cong_control callback replaces both.
 *
 * The SACK scoreboard of Linux, if the peer offers SACK, still determines the segments to be
 * retransmitted, but not the window. Disable SACK for the Tahoe of 1988.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <net/tcp.h>

#define TAHOE_DUPACK_THRESHOLD 3

struct tahoe {
	u32 acked;	/* the cumulative acknowledgement at the end of the last ACK */
	bool restarted;	/* the current ACK has signalled congestion */
};

static void tahoe_init(struct sock *sk)
{
	struct tahoe *ca = inet_csk_ca(sk);

	ca->acked = tcp_sk(sk)->snd_una;
	ca->restarted = false;
}

/* Return half the flight, and at least two segments. A loss that a tail probe repaired is noticed when nothing
 * is outstanding any more, so the largest flight of the last round trip counts, too.
 */
static u32 tahoe_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 flight = min(tcp_snd_cwnd(tp), max(tp->packets_out, tp->max_packets_out));

	return max(flight >> 1, 2U);
}

/* Mark all segments in flight as lost: Tahoe continues with the first unacknowledged segment. Segments that
 * still count as in flight would also block the retransmission, because the window is one segment.
 */
static void tahoe_forget_flight(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (tcp_is_reno(tp))
		tp->sacked_out = 0;	/* without SACK only a count of duplicate ACKs */
	skb_rbtree_walk_from(skb) {
		struct tcp_skb_cb *scb = TCP_SKB_CB(skb);

		if ((scb->sacked & (TCPCB_SACKED_RETRANS | TCPCB_LOST)) == TCPCB_SACKED_RETRANS) {
			scb->sacked &= ~TCPCB_SACKED_RETRANS;
			tp->retrans_out -= tcp_skb_pcount(skb);
		}
		tcp_mark_skb_lost(sk, skb);
	}
	tcp_clear_all_retrans_hints(tp);
}

static void tahoe_restart(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, 1);
	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	/* Tahoe does not undo a reduction of the window or the threshold. */
	tp->undo_marker = 0;
	tp->prior_ssthresh = 0;
}

/* Called by the stack just before it enters the state, with ssthresh already set. */
static void tahoe_set_state(struct sock *sk, u8 state)
{
	struct tahoe *ca = inet_csk_ca(sk);

	switch (state) {
	case TCP_CA_Loss:
		tahoe_forget_flight(sk);
		tahoe_restart(sk);
		break;
	case TCP_CA_Recovery:
		tahoe_forget_flight(sk);
		tahoe_restart(sk);
		ca->restarted = true;
		break;
	case TCP_CA_CWR:
		/* Nothing was lost: slow start begins when the old flight is acknowledged. */
		tahoe_restart(sk);
		ca->restarted = true;
		break;
	default:
		break;
	}
}

/* Set the pacing rate as tcp_update_pacing_rate() does for controls without cong_control: the size of bursts
 * follows from it, so Tahoe and Reno differ only in their windows.
 */
static void tahoe_set_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct net *net = sock_net(sk);
	u64 rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);

	if (tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2)
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ss_ratio);
	else
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ca_ratio);
	rate *= max(tcp_snd_cwnd(tp), tp->packets_out);
	if (tp->srtt_us)
		do_div(rate, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* Runs at the end of every ACK, in place of PRR and cong_avoid. Only an ACK for new data opens the
 * window: the duplicate ACKs of the old flight would raise it to ssthresh at once.
 */
static void tahoe_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tahoe *ca = inet_csk_ca(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;
	bool advanced = after(tp->snd_una, ca->acked);
	/* After a timeout one ACK may cover many segments that had arrived before. */
	u32 acked = min_t(u32, rs->acked_sacked, tcp_snd_cwnd(tp));

	ca->acked = tp->snd_una;
	if (tcp_is_reno(tp)) {
		/* The stack takes duplicate ACKs for the old flight for reordering. */
		tp->reordering = TAHOE_DUPACK_THRESHOLD;
		/* An ACK that also covers segments which arrived before the restart counts as one segment
		 * (RFC 3465, section 2.3). With SACK, these segments are not in the count.
		 */
		if (state >= TCP_CA_Recovery)
			acked = min(acked, 1U);
	}
	if (ca->restarted) {
		ca->restarted = false;
	} else if (advanced && acked && state != TCP_CA_CWR &&
		   (state >= TCP_CA_Recovery || tcp_is_cwnd_limited(sk))) {
		if (tcp_in_slow_start(tp))
			acked = tcp_slow_start(tp, acked);
		if (acked)
			tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
	}
	tahoe_set_pacing_rate(sk);
}

/* Runs at the start of every ACK: Tahoe has no F-RTO (RFC 5682), which would count the old flight as still
 * in the network.
 */
static void tahoe_in_ack_event(struct sock *sk, u32 flags)
{
	tcp_sk(sk)->frto = 0;
}

static u32 tahoe_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops tcp_tahoe __read_mostly = {
	.init		= tahoe_init,
	.ssthresh	= tahoe_ssthresh,
	.set_state	= tahoe_set_state,
	.in_ack_event	= tahoe_in_ack_event,
	.cong_control	= tahoe_cong_control,
	.undo_cwnd	= tahoe_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "tahoe",
};

static int __init tcp_tahoe_register(void)
{
	BUILD_BUG_ON(sizeof(struct tahoe) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_tahoe);
}

static void __exit tcp_tahoe_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_tahoe);
}

module_init(tcp_tahoe_register);
module_exit(tcp_tahoe_unregister);

MODULE_AUTHOR("The netlab developers");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP Tahoe");
