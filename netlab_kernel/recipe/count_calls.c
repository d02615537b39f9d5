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

/*
 * Starting a program takes netlab_exec_ns= of virtual time. The new program sleeps for it before its first instruction, so
 * that everything else runs meanwhile: a server that opens its socket anew has done so before the next client calls.
 * Programs that are started in one instant begin in their order, NETLAB_NEXT_EXEC_NS apart. 0, the default, is off.
 */
#define NETLAB_NEXT_EXEC_NS 1000

#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

static unsigned int netlab_exec_ns;

static int __init netlab_exec_setup(char *text, int *add)
{
	*add = 0;
	return kstrtouint(text, 10, &netlab_exec_ns);
}
__uml_setup("netlab_exec_ns=", netlab_exec_setup,
"netlab_exec_ns=<nanoseconds>\n"
"    Virtual time that starting a program takes. 0: none.\n\n");

void netlab_charge_exec(void)
{
	static ktime_t latest;
	ktime_t end;

	if (!netlab_exec_ns || time_travel_mode != TT_MODE_INFCPU)
		return;
	/* Whoever waits for the end of a file that was closed here must not wait for the program too. */
	task_work_run();
	end = ktime_add_ns(ktime_get(), netlab_exec_ns);
	if (ktime_compare(end, ktime_add_ns(latest, NETLAB_NEXT_EXEC_NS)) < 0)
		end = ktime_add_ns(latest, NETLAB_NEXT_EXEC_NS);
	latest = end;
	do
		set_current_state(TASK_KILLABLE);
	while (schedule_hrtimeout(&end, HRTIMER_MODE_ABS) && !fatal_signal_pending(current));
}

void time_travel_ndelay(unsigned long nsec)
{
