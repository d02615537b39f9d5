/*
 * Virtual time never passes while a program computes, so a program that polls would wait for ever. After netlab_calls= system
 * calls at one instant, each further one takes time. 0, the default, switches this off, so that measurements do not depend on it.
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
 * Programs such as iperf3 hold a rate by the time since their start. If no time has passed, their rate is not a number, and they
 * send without end. So if calls are counted, sending takes time in proportion to the length of the message: 5 GB/s, about the
 * speed at which a processor copies. Otherwise iperf over a link without a rate would send hundreds of Gbit per second, which
 * takes a minute of the host's time. The first process, which is netlab's agent, sends in no time, as in guests without programs.
 */
#define NETLAB_SEND_NS 1000
#define NETLAB_BYTES_PER_NS 5

#include <linux/file.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <net/sock.h>
#include <asm/unistd.h>

static void netlab_charge_send(int fd, long bytes)
{
	struct socket *sock;
	int family, err;

	if (!netlab_calls_per_instant || time_travel_mode != TT_MODE_INFCPU || is_global_init(current->group_leader))
		return;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return;
	family = sock->ops->family;
	sockfd_put(sock);
	if (family == AF_INET || family == AF_PACKET)
		time_travel_update_time_rel(NETLAB_SEND_NS + bytes / NETLAB_BYTES_PER_NS);
}

/*
 * Starting a program takes netlab_exec_ns= of virtual time. The new program sleeps that long before its first instruction, so
 * that all others run meanwhile: a server has reopened its socket before the next client connects.
 * Programs that are started at one instant begin in their order, NETLAB_NEXT_EXEC_NS apart. 0, the default, switches this off.
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

static void netlab_charge_exec(void)
{
	static ktime_t latest;
	ktime_t end;

	if (!netlab_exec_ns || time_travel_mode != TT_MODE_INFCPU)
		return;
	/* Finish closing files first: a reader that waits for their end must not wait for the program, too. */
	task_work_run();
	end = ktime_add_ns(ktime_get(), netlab_exec_ns);
	if (ktime_compare(end, ktime_add_ns(latest, NETLAB_NEXT_EXEC_NS)) < 0)
		end = ktime_add_ns(latest, NETLAB_NEXT_EXEC_NS);
	latest = end;
	do
		set_current_state(TASK_KILLABLE);
	while (schedule_hrtimeout(&end, HRTIMER_MODE_ABS) && !fatal_signal_pending(current));
}

void netlab_charge_call(long call, unsigned long first_argument, long result);

/* Called after each system call. */
void netlab_charge_call(long call, unsigned long first_argument, long result)
{
	switch (call) {
	case __NR_execve:
	case __NR_execveat:
		if (!result)
			netlab_charge_exec();
		break;
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg:
		if (result > 0)
			netlab_charge_send(first_argument, result);
		break;
	case __NR_sendmmsg:
		/* The result is a number of messages, not of bytes. */
		if (result > 0)
			netlab_charge_send(first_argument, 0);
		break;
	}
}

void time_travel_ndelay(unsigned long nsec)
{
