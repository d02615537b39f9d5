static void netem_move(struct sk_buff *skb, u64 begun, u64 old_rate, u64 rate)
{
	struct netem_skb_cb *cb = netem_skb_cb(skb);

	if (cb->time_to_send > begun)
		cb->time_to_send = begun + mul_u64_u64_div_u64(cb->time_to_send - begun, old_rate, rate);
}

/* Continue the frames that were being sent at the new rate. */
static void netem_new_rate(struct netem_sched_data *q, s64 old_latency, u64 old_rate)
{
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (!old_rate || !q->rate || old_rate == q->rate || q->jitter)
		return;
	for (skb = q->t_head; skb; skb = skb->next)
		netem_move(skb, now + old_latency, old_rate, q->rate);
	skb_rbtree_walk(skb, &q->t_root)
		netem_move(skb, now + old_latency, old_rate, q->rate);
	qdisc_watchdog_schedule_ns(&q->watchdog, now);
}

/* Parse netlink message to set options */
static int netem_change(struct Qdisc *sch, struct nlattr *opt,
