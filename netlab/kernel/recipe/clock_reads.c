/*
 * Reading the clock takes no time, as computing takes none: what a run measures must not depend on how often
 * a program looks at the clock. But a program that waits by looking would wait for ever, so whoever has looked this
 * often within one instant moves the clock with every further look, as upstream does with the first.
 */
#define NETLAB_READS_PER_INSTANT 20000

static bool netlab_waits_by_reading(void)
{
	static unsigned long long instant;
	static unsigned int reads;

	if (instant != time_travel_time) {
		instant = time_travel_time;
		reads = 0;
	}
	if (++reads <= NETLAB_READS_PER_INSTANT)
		return false;
	instant += TIMER_MULTIPLIER;
	return true;
}

static u64 timer_read(struct clocksource *cs)
{
