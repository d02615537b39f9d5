/*
 * Reading the clock takes no time, and neither does a system call that fails, as computing takes none: what a run measures
 * must not depend on how often a program looks. But a program that waits by looking would wait for ever, so whoever has
 * looked this often within one instant moves the clock with every further look, as upstream does with the first.
 */
#define NETLAB_LOOKS_PER_INSTANT 20000
#define NETLAB_FAILURE_NS 1000

struct netlab_looks {
	unsigned long long instant;
	unsigned int count;
};

static bool netlab_waits_by_looking(struct netlab_looks *looks, unsigned int look_ns)
{
	if (looks->instant != time_travel_time) {
		looks->instant = time_travel_time;
		looks->count = 0;
	}
	if (++looks->count <= NETLAB_LOOKS_PER_INSTANT)
		return false;
	looks->instant += look_ns;
	return true;
}

static bool netlab_waits_by_reading(void)
{
	static struct netlab_looks readings;

	return netlab_waits_by_looking(&readings, TIMER_MULTIPLIER);
}

bool netlab_waits_by_failing(void)
{
	static struct netlab_looks failures;

	return netlab_waits_by_looking(&failures, NETLAB_FAILURE_NS);
}

static u64 timer_read(struct clocksource *cs)
{
