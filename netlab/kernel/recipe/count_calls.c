/*
 * Virtual time never passes while a program computes, so one that polls would never see anything happen. Whoever makes
 * more system calls than netlab_calls= within one instant pays for each further one with time. 0, the default,
 * is off: what a run measures must not depend on it.
 */
#define NETLAB_CALL_NS 10000

static unsigned int netlab_calls_per_instant;

static int __init netlab_calls_setup(char *text, int *add)
{
	*add = 0;
	return kstrtouint(text, 10, &netlab_calls_per_instant);
}
__uml_setup("netlab_calls=", netlab_calls_setup,
"netlab_calls=<number>\n"
"    System calls in one instant of virtual time that are free; each further\n"
"    one takes 10 us. 0: all are free.\n\n");

void netlab_count_call(void)
{
	static unsigned long long instant;
	static unsigned int calls;

	if (!netlab_calls_per_instant || time_travel_mode != TT_MODE_INFCPU)
		return;
	if (instant != time_travel_time) {
		instant = time_travel_time;
		calls = 0;
	}
	if (++calls > netlab_calls_per_instant) {
		time_travel_update_time_rel(NETLAB_CALL_NS);
		instant = time_travel_time;
	}
}

void time_travel_ndelay(unsigned long nsec)
{
