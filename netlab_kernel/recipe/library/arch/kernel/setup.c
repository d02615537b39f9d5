// SPDX-License-Identifier: GPL-2.0
/* Boot, memory, console, randomness, and the end. */
#include <linux/bug.h>
#include <linux/console.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/signal.h>
#include <linux/version.h>
#include <asm/host.h>
#include <asm/setup.h>

unsigned long library_irqs_on;
unsigned long memory_start, memory_end;
static struct library_boot boot;
static u64 random_state;

/* The seed of the generator, by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) as in User-Mode Linux. */
unsigned long library_random_longs(unsigned long *words, unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		u64 z = random_state += 0x9e3779b97f4a7c15ULL;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		words[i] = z ^ (z >> 31);
	}
	return count;
}

void library_random_start(unsigned long long seed)
{
	random_state = seed;
}

static void console_write(struct console *console, const char *text, unsigned int length)
{
	host_print(text, length);
}

static struct console host_console = {
	.name = "host",
	.write = console_write,
	.flags = CON_PRINTBUFFER | CON_ENABLED | CON_BOOT,
	.index = -1,
};

static int on_panic(struct notifier_block *block, unsigned long event, void *text)
{
	host_panic();
	return NOTIFY_DONE;
}

static struct notifier_block panic_block = { .notifier_call = on_panic, .priority = INT_MAX };

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void *library_zero_page;
#endif

void __init setup_arch(char **command_line)
{
	strscpy(boot_command_line, boot.command_line, COMMAND_LINE_SIZE);
	*command_line = boot_command_line;
	register_console(&host_console);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	memory_start = (unsigned long)boot.memory;
	memory_end = memory_start + boot.memory_bytes;
	memblock_add(memory_start, boot.memory_bytes);
	min_low_pfn = PFN_DOWN(memory_start);
	max_low_pfn = max_pfn = PFN_DOWN(memory_end);
	high_memory = (void *)memory_end;
	memblock_set_bottom_up(true);
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
	{
		unsigned long ends[MAX_NR_ZONES] = { [ZONE_NORMAL] = max_low_pfn };

		library_zero_page = memblock_alloc(PAGE_SIZE, PAGE_SIZE);
		free_area_init(ends);
	}
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
void __init mem_init(void) { memblock_free_all(); }
#else
void __init arch_zone_limits_init(unsigned long *ends) { ends[ZONE_NORMAL] = max_low_pfn; }
void __init mem_init(void) { }
#endif

void free_initmem(void) { }
void __init init_IRQ(void) { }
void __init trap_init(void) { }
void machine_restart(char *command) { host_panic(); }
void machine_halt(void) { host_panic(); }
void machine_power_off(void) { host_panic(); }
int is_valid_bugaddr(unsigned long address) { return 1; }

static void *no_cpu(struct seq_file *file, loff_t *position) { return NULL; }
static void *no_next_cpu(struct seq_file *file, void *v, loff_t *position) { return NULL; }
static void no_stop(struct seq_file *file, void *v) { }
static int no_show(struct seq_file *file, void *v) { return 0; }
const struct seq_operations cpuinfo_op = { .start = no_cpu, .next = no_next_cpu, .stop = no_stop, .show = no_show };

/* The last step of booting, in the first process: hand over to the host program. */
static int __init start_host(void)
{
	/* Ignore SIGCHLD, so that ended threads do not stay as zombies. */
	kernel_sigaction(SIGCHLD, SIG_IGN);
	host_main();
	return 0;
}
late_initcall_sync(start_host);

void library_boot(const struct library_boot *given)
{
	boot = *given;
	library_random_start(given->seed);
	library_time_start(given);
	library_run(library_fresh_stack(init_stack));
}
