/*
 * At each system call, the kernel and the process of the host that runs the program (the stub) wait for each other. If they are on
 * two CPUs, each looks for the other's answer for a while before it sleeps, so that the host need not wake it. If other work keeps
 * one of them from its CPU, both share the kernel's CPU, where nobody looks, because waking a process on another CPU takes long.
 *
 * netlab_cpus= lists CPUs that stubs may use. The kernel stays on the CPU to which it is bound; if it may use several, stubs do too.
 */
#define NETLAB_LOOKS		50000			/* about a millisecond */
#define NETLAB_MAX_CPUS		16
#define NETLAB_WINDOW_NS	(50 * 1000000LL)
#define NETLAB_MIN_PAUSE_NS	(200 * 1000000LL)
#define NETLAB_MAX_PAUSE_NS	(64 * NETLAB_MIN_PAUSE_NS)
#define NETLAB_WAITS		128			/* between two readings of the clock */
#define NETLAB_OWN_CPU		-1

static int netlab_cpus[NETLAB_MAX_CPUS], netlab_cpu_count;
static int netlab_stub_cpu = NETLAB_OWN_CPU;
static long long netlab_window_ns;	/* the beginning of the window, or of the pause */
static long long netlab_stub_delay_ns, netlab_delay_before_ns;
static struct stub_data *netlab_latest;

static int __init netlab_cpus_setup(char *text, int *add)
{
	char *next = text, *end;

	*add = 0;
	while (netlab_cpu_count < NETLAB_MAX_CPUS) {
		long cpu = strtol(next, &end, 10);

		if (end == next || cpu < 0 || cpu >= CPU_SETSIZE)
			break;
		netlab_cpus[netlab_cpu_count++] = cpu;
		next = *end == ',' ? end + 1 : end;
	}
	return 0;
}
__uml_setup("netlab_cpus=", netlab_cpus_setup,
"netlab_cpus=<number>,...\n"
"    CPUs of the host on which programs may run while the kernel looks for\n"
"    their system calls on another. None: both share a CPU.\n\n");

static long long netlab_ns(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* The C library's functions for this have the names of functions of the kernel. */
static cpu_set_t netlab_own_cpus(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	syscall(__NR_sched_getaffinity, 0, sizeof(cpus), &cpus);
	return cpus;
}

/* The time for which the kernel has been ready to run without having its CPU; 0 if the host does not measure it. */
static long long netlab_delay_ns(void)
{
	int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[64], *second;
	ssize_t got;

	if (file < 0)
		return 0;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	second = strchr(text, ' ');
	return second ? strtoll(second, NULL, 10) : 0;
}

static int netlab_another_cpu(void)
{
	static unsigned int next;
	cpu_set_t own = netlab_own_cpus();
	int i, cpu;

	for (i = 0; i < netlab_cpu_count && CPU_COUNT(&own) == 1; i++) {
		cpu = netlab_cpus[next++ % netlab_cpu_count];
		if (!CPU_ISSET(cpu, &own))
			return cpu;
	}
	return NETLAB_OWN_CPU;
}

/*
 * Choose the CPU of stubs: the kernel's if one side waited for its CPU in a quarter of the last window, and another one after a pause,
 * which doubles if that fails at once.
 */
static void netlab_choose_cpu(long long now)
{
	static long long pause = NETLAB_MIN_PAUSE_NS;
	long long passed = now - netlab_window_ns, delay;

	if (passed < (netlab_stub_cpu == NETLAB_OWN_CPU ? pause : NETLAB_WINDOW_NS))
		return;
	delay = netlab_delay_ns();
	if (netlab_stub_cpu == NETLAB_OWN_CPU) {
		netlab_stub_cpu = netlab_another_cpu();
		pause = pause < NETLAB_MAX_PAUSE_NS ? 2 * pause : pause;
	} else if (netlab_stub_delay_ns > passed / 4 || delay - netlab_delay_before_ns > passed / 4) {
		netlab_stub_cpu = NETLAB_OWN_CPU;
	} else {
		pause = NETLAB_MIN_PAUSE_NS;
	}
	netlab_window_ns = now;
	netlab_stub_delay_ns = 0;
	netlab_delay_before_ns = delay;
}

static void netlab_move_stub(struct mm_id *id)
{
	cpu_set_t cpus;

	if (id->cpu == netlab_stub_cpu + 1)
		return;
	id->cpu = netlab_stub_cpu + 1;
	if (netlab_stub_cpu == NETLAB_OWN_CPU) {
		cpus = netlab_own_cpus();
	} else {
		CPU_ZERO(&cpus);
		CPU_SET(netlab_stub_cpu, &cpus);
	}
	syscall(__NR_sched_setaffinity, id->pid, sizeof(cpus), &cpus);
}

/* Let the stub continue, and let the one before stop looking only then: waking a process on an idle CPU takes ten times as long. */
static void netlab_resume_stub(struct mm_id *id, struct stub_data *data)
{
	static unsigned int waits;

	if (netlab_cpu_count && waits++ % NETLAB_WAITS == 0)
		netlab_choose_cpu(netlab_ns(CLOCK_MONOTONIC));
	netlab_move_stub(id);
	__atomic_store_n(&data->stub_looks, netlab_stub_cpu != NETLAB_OWN_CPU, __ATOMIC_RELAXED);
	__atomic_store_n(&data->futex, FUTEX_IN_CHILD, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&data->stub_sleeps, __ATOMIC_SEQ_CST))
		CATCH_EINTR(syscall(__NR_futex, &data->futex, FUTEX_WAKE, 1, NULL, NULL, 0));
	if (netlab_latest && netlab_latest != data)
		__atomic_store_n(&netlab_latest->stub_looks, 0, __ATOMIC_RELAXED);
	netlab_latest = data;
}

/* Called before the memory that the kernel and a stub share is freed. */
void netlab_forget_stub_data(unsigned long data)
{
	if ((unsigned long)netlab_latest == data)
		netlab_latest = NULL;
}

/* Look for the stub's answer so many times. Returns true if it is there. */
static bool netlab_look(struct stub_data *data, int times)
{
	while (__atomic_load_n(&data->futex, __ATOMIC_ACQUIRE) == FUTEX_IN_CHILD) {
		if (times-- == 0)
			return false;
		__builtin_ia32_pause();
	}
	return true;
}

/* Sleep until the stub answers or a signal arrives. Returns what the host's futex() does. */
static int netlab_sleep(struct stub_data *data)
{
	int result, error;

	__atomic_store_n(&data->kernel_sleeps, 1, __ATOMIC_SEQ_CST);
	result = syscall(__NR_futex, &data->futex, FUTEX_WAIT, FUTEX_IN_CHILD, NULL, NULL, 0);
	error = errno;
	__atomic_store_n(&data->kernel_sleeps, 0, __ATOMIC_SEQ_CST);
	errno = error;
	return result;
}

/* Wait until the stub answers or a signal arrives. Returns what the host's futex() does. */
static int netlab_wait_for_stub(struct mm_id *id, struct stub_data *data)
{
	/* From linux/posix-timers_types.h: the clock of the time that a process has had a CPU. */
	clockid_t cpu_time = (~(clockid_t)id->pid << 3) | 2;
	long long began, had, now;
	int result = 0, error;

	if (netlab_stub_cpu == NETLAB_OWN_CPU)
		return netlab_sleep(data);
	/* Most answers come at once, before it is worth reading clocks. */
	if (netlab_look(data, NETLAB_LOOKS / 10))
		return 0;
	began = netlab_ns(CLOCK_MONOTONIC);
	had = netlab_ns(cpu_time);
	if (!netlab_look(data, NETLAB_LOOKS))
		result = netlab_sleep(data);
	error = errno;
	now = netlab_ns(CLOCK_MONOTONIC);
	netlab_stub_delay_ns += now - began - (netlab_ns(cpu_time) - had);
	netlab_choose_cpu(now);
	errno = error;
	return result;
}

