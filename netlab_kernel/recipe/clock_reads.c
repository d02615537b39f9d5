/*
 * Reading the clock takes no virtual time, and neither does a system call that fails: measurements must not depend on how often
 * a program polls. But a program that waits by polling would wait for ever. So after this number of polls at one instant, each
 * further one advances the clock, as each one does in the original User-Mode Linux.
 */
#define NETLAB_FREE_POLLS_PER_INSTANT 20000
#define NETLAB_FAILURE_NS 1000

struct netlab_polls {
	unsigned long long instant;
	unsigned int count;
};

static bool netlab_is_polling(struct netlab_polls *polls, unsigned int poll_ns)
{
	if (polls->instant != time_travel_time) {
		polls->instant = time_travel_time;
		polls->count = 0;
	}
	if (++polls->count <= NETLAB_FREE_POLLS_PER_INSTANT)
		return false;
	polls->instant += poll_ns;
	return true;
}

static bool netlab_polls_clock(void)
{
	static struct netlab_polls readings;

	return netlab_is_polling(&readings, TIMER_MULTIPLIER);
}

bool netlab_polls_by_failing_calls(void)
{
	static struct netlab_polls failures;

	return netlab_is_polling(&failures, NETLAB_FAILURE_NS);
}

static u64 timer_read(struct clocksource *cs)
{
