// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control that asks the host program for a window, a threshold and a pacing rate at each event, while no network
 * time passes. Linux does the recovery: it approaches the window that the program chose, segment by segment (RFC 9937).
 */
#include <linux/module.h>
#include <net/tcp.h>
#include <asm/host.h>

struct own_state {
	u64 pacing_rate;
	u32 window, una, marked;
	bool threshold_asked;		/* Linux has asked for a threshold since the last event */
	bool acked;			/* an ACK is being processed */
};

static struct tcp_congestion_ops own_control, own_control_ect_1;

static u64 delivery_rate(const struct tcp_sock *tp)
{
	u64 bytes = (u64)tp->rate_delivered * tp->mss_cache * USEC_PER_SEC;

	return tp->rate_delivered && tp->rate_interval_us ? div_u64(bytes, tp->rate_interval_us) : 0;
}

/* Combines tcp_may_raise_cwnd(), which is static in tcp_input.c, with the condition that the window limits the sender. */
static bool may_grow(const struct sock *sk, const struct rate_sample *rs)
{
	const struct own_state *own = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	bool reordered = tp->reordering > READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);

	return !tcp_in_cwnd_reduction(sk) && tcp_is_cwnd_limited(sk) && (reordered ? rs->acked_sacked : tp->snd_una != own->una);
}

static bool has_accurate_ecn(const struct sock *sk)
{
#ifdef TCP_CONG_ECT_1_NEGOTIATION
	return tcp_ecn_mode_accecn(tcp_sk(sk));
#else
	return false;
#endif
}

static void ask_program(struct sock *sk, enum library_event event, const struct rate_sample *rs)
{
	struct own_state *own = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool undo = event == CONTROL_UNDO;
	struct library_state state = {
		.now_ns = library_now_ns,
		.port = ntohs(inet_sk(sk)->inet_dport),
		.event = event,
		.flags = (rs && may_grow(sk, rs) ? CONTROL_MAY_GROW : 0) | (rs && rs->is_app_limited ? CONTROL_APP_LIMITED : 0) |
			 (own->threshold_asked ? CONTROL_IS_NEW : 0) | (has_accurate_ecn(sk) ? CONTROL_ACCURATE_ECN : 0),
		.mss_bytes = tp->mss_cache,
		.delivery_rate = delivery_rate(tp),
		.window = undo ? tp->prior_cwnd : tcp_snd_cwnd(tp),
		.threshold = undo ? tp->prior_ssthresh : tp->snd_ssthresh,
		.in_flight = tcp_packets_in_flight(tp),
		.delivered = rs ? rs->acked_sacked : 0,
		.marked = tp->delivered_ce - own->marked,
		.lost = tp->lost_out,
		.rtt_us = rs ? rs->rtt_us : -1,
		.rtt_min_us = tcp_min_rtt(tp),
	};
	struct library_control control;

	host_control(&state, &control);
	if (rs)
		own->marked = tp->delivered_ce;
	own->threshold_asked = false;
	own->window = max(control.window, 1U);
	own->pacing_rate = control.pacing_rate;
	tp->snd_ssthresh = max(control.threshold, 2U);
	/* Linux chooses the codepoint by a flag of the congestion control, so there are two of them. */
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, control.ect ? &own_control_ect_1 : &own_control);
}

static void set_window(struct sock *sk)
{
	const struct own_state *own = inet_csk_ca(sk);

	tcp_snd_cwnd_set(tcp_sk(sk), min(own->window, tcp_sk(sk)->snd_cwnd_clamp));
}

/* Repeats tcp_update_pacing_rate(), which some versions of Linux do not export. */
static void set_pacing_rate(struct sock *sk)
{
	const struct own_state *own = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	bool slow_start = tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2;
	const struct netns_ipv4 *settings = &sock_net(sk)->ipv4;
	u64 rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);

	if (own->pacing_rate) {
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
		WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, own->pacing_rate, READ_ONCE(sk->sk_max_pacing_rate)));
		return;
	}
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED, SK_PACING_NONE);
	rate *= slow_start ? READ_ONCE(settings->sysctl_tcp_pacing_ss_ratio) : READ_ONCE(settings->sysctl_tcp_pacing_ca_ratio);
	rate *= max(tcp_snd_cwnd(tp), tp->packets_out);
	if (likely(tp->srtt_us))
		do_div(rate, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* Make one step of Linux's recovery, which approaches the threshold, towards the window instead. */
static void reduce(struct sock *sk, int delivered, int lost, int flag)
{
	struct own_state *own = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 threshold = tp->snd_ssthresh;

	tp->snd_ssthresh = own->window;
	tcp_cwnd_reduction(sk, delivered, lost, flag);
	tp->snd_ssthresh = threshold;
}

static void control_init(struct sock *sk)
{
	struct own_state *own = inet_csk_ca(sk);

	*own = (struct own_state){ .una = tcp_sk(sk)->snd_una, .marked = tcp_sk(sk)->delivered_ce };
	ask_program(sk, CONTROL_START, NULL);
	set_window(sk);
	if (own->pacing_rate)
		set_pacing_rate(sk);
}

static void control_ack(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct own_state *own = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* The ACK of the SYN arrives before control_init(). */
	if (!own->window) {
		set_pacing_rate(sk);
		return;
	}
	/* Most other ACKs only change the receiver's window. */
	if (rs->acked_sacked || rs->losses > 0 || rs->rtt_us >= 0)
		ask_program(sk, CONTROL_ACK, rs);
	own->una = tp->snd_una;
	own->acked = false;
	if (tcp_in_cwnd_reduction(sk))
		reduce(sk, rs->acked_sacked, rs->losses, flag);
	else
		set_window(sk);
	set_pacing_rate(sk);
}

static void control_ack_comes(struct sock *sk, u32 flags)
{
	((struct own_state *)inet_csk_ca(sk))->acked = true;
}

static u32 control_ssthresh(struct sock *sk)
{
	struct own_state *own = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* A recovery that this ACK ended may not have reached the window yet. */
	if (!tcp_in_cwnd_reduction(sk))
		tp->prior_cwnd = own->window;
	own->threshold_asked = true;
	return tp->snd_ssthresh;
}

/* Called before the state changes, and after TCP has marked the segments that it considers lost. */
static void control_state(struct sock *sk, u8 state)
{
	const struct own_state *own = inet_csk_ca(sk);

	if (state == TCP_CA_Loss) {
		ask_program(sk, CONTROL_TIMEOUT, NULL);
		set_window(sk);
	} else if ((state == TCP_CA_Recovery || state == TCP_CA_CWR) && own->threshold_asked) {
		ask_program(sk, CONTROL_LOSS, NULL);
		/* If a timer found the loss, no ACK follows that would make this step. */
		if (state == TCP_CA_Recovery && !own->acked)
			reduce(sk, 1, 0, 0);
	}
}

static u32 control_undo(struct sock *sk)
{
	const struct own_state *own = inet_csk_ca(sk);

	ask_program(sk, CONTROL_UNDO, NULL);
	return own->window;
}

static struct tcp_congestion_ops own_control_ect_1 __read_mostly;
static struct tcp_congestion_ops own_control __read_mostly = {
	.init = control_init,
	.in_ack_event = control_ack_comes,
	.cong_control = control_ack,
	.ssthresh = control_ssthresh,
	.set_state = control_state,
	.undo_cwnd = control_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.owner = THIS_MODULE,
	.name = "own",
};

static int __init control_register(void)
{
	BUILD_BUG_ON(sizeof(struct own_state) > ICSK_CA_PRIV_SIZE);
	own_control_ect_1 = own_control;
#ifdef TCP_CONG_ECT_1_NEGOTIATION
	own_control_ect_1.flags |= TCP_CONG_ECT_1_NEGOTIATION;
#endif
	return tcp_register_congestion_control(&own_control);
}
late_initcall(control_register);
