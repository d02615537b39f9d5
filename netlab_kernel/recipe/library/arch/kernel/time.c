// SPDX-License-Identifier: GPL-2.0
/* Virtual time: the clock stands still while anything computes, and jumps to the next timer when all threads sleep. */
#include <linux/clockchips.h>
#include <linux/clocksource.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <asm/host.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#define NEVER (~0ULL)

u64 library_now_ns;
u64 library_horizon_ns = NEVER;
u64 library_jumps;
static u64 next_event_ns = NEVER;
static u64 start_s;

static u64 read_clock(struct clocksource *source)
{
	return library_now_ns;
}

static struct clocksource virtual_clock = {
	.name = "virtual",
	.rating = 499,
	.read = read_clock,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS,
};

static int set_next_event(unsigned long delta_ns, struct clock_event_device *device)
{
	next_event_ns = library_now_ns + delta_ns;
	return 0;
}

static int forget_next_event(struct clock_event_device *device)
{
	next_event_ns = NEVER;
	return 0;
}

static struct clock_event_device virtual_timer = {
	.name = "virtual",
	.rating = 499,
	.features = CLOCK_EVT_FEAT_ONESHOT,
	.set_next_event = set_next_event,
	.set_state_shutdown = forget_next_event,
	.set_state_oneshot = forget_next_event,
};

unsigned long long sched_clock(void)
{
	return library_now_ns;
}

void read_persistent_clock64(struct timespec64 *now)
{
	now->tv_sec = start_s;
	now->tv_nsec = 0;
}

void __init library_time_start(const struct library_boot *boot)
{
	start_s = boot->start_s;
}

void __init time_init(void)
{
	virtual_timer.cpumask = cpumask_of(0);
	clocksource_register_hz(&virtual_clock, NSEC_PER_SEC);
	clockevents_config_and_register(&virtual_timer, NSEC_PER_SEC, 1, 0x3fffffffffffffffUL);
	/* The generic code has set a minimum of a microsecond, which would move timers that are due sooner. */
	virtual_timer.min_delta_ns = 1;
	virtual_timer.min_delta_ticks = 1;
}

/* Called by the idle loop: the only place where the clock moves. */
void arch_cpu_idle(void)
{
	static struct pt_regs no_registers;
	struct pt_regs *before;

	/* Without a horizon, NEVER must be checked by itself. */
	if (next_event_ns > library_horizon_ns || next_event_ns == NEVER)
		host_deadlock();
	if (next_event_ns > library_now_ns)
		library_now_ns = next_event_ns;
	next_event_ns = NEVER;
	library_jumps++;
	before = set_irq_regs(&no_registers);
	irq_enter();
	virtual_timer.event_handler(&virtual_timer);
	irq_exit();
	set_irq_regs(before);
	raw_local_irq_disable();
}

/* Busy waiting advances the clock at once. */
void __delay(unsigned long loops) { library_now_ns += loops; }
void __udelay(unsigned long us) { library_now_ns += us * NSEC_PER_USEC; }
void __ndelay(unsigned long ns) { library_now_ns += ns; }
void __const_udelay(unsigned long scaled) { library_now_ns += scaled >> 12; }
void calibrate_delay(void) { }
