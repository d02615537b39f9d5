	/* Keep the bytes in the token bucket: a full bucket after each change would add up over many changes. */
	if (q->rate.rate_bytes_ps) {
		u64 now = ktime_get_ns();
		u64 held = min_t(u64, q->tokens + (now - q->t_c), psched_l2t_ns(&q->rate, max_size));

		held = mul_u64_u64_div_u64(held, q->rate.rate_bytes_ps, rate.rate_bytes_ps);
		q->tokens = min_t(u64, held, q->buffer);
		q->t_c = now;
		/* Schedule the waiting frame again, because its time follows from the old rate. */
		qdisc_watchdog_schedule_ns(&q->watchdog, now);
	} else {
		q->tokens = q->buffer;
	}
	q->ptokens = q->mtu;

	memcpy(&q->rate, &rate,
