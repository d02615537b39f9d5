// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/netlab_exits: processes that failed within a second of their start, with what they wrote to descriptors 2 and 1.
 *
 * A read returns as many records (struct early_exit) as fit, or 0 bytes if there is none; poll() waits for the next one. A process
 * that handled a signal which asks programs to end is not recorded. The processes are not affected: their output is only copied.
 */
#include <linux/fs.h>
#include <linux/kfifo.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <asm/mmu_context.h>
#include <asm/unistd.h>
#include <sysdep/ptrace.h>
#include <sysdep/ptrace_user.h>

#define EARLY_NS	NSEC_PER_SEC
#define STDOUT		1
#define STDERR		2
#define COMMAND_BYTES	512
#define FIRST_BYTES	512
#define ERROR_BYTES	2048
#define OUTPUT_BYTES	512
#define RECORDS		32

#define IN_BACKGROUND	1	/* a command that a shell without job control started with & */
#define NO_PROGRAM	2	/* a fork that executed no program, such as a shell that did not find it */
#define ASKED_TO_END	4	/* it handled a signal that asks programs to end */

struct early_exit {
	__u32 bytes;			/* of this structure, by which a reader checks its version */
	__s32 pid, parent;
	__s32 status;			/* as wait() returns it */
	__u64 started_ns;		/* of CLOCK_MONOTONIC */
	__u32 network;			/* inode of its network namespace */
	__u32 flags;
	__u32 command_bytes;
	__u32 error_bytes;
	__u32 output_bytes;
	__u32 unused;
	char command[COMMAND_BYTES];	/* its arguments, each with a NUL after it */
	char error[ERROR_BYTES];	/* its output to descriptor 2: the beginning and, if it is longer, the end */
	char output[OUTPUT_BYTES];	/* the end of its output to descriptor 1 */
};

/* Records of young processes until their end, by process id. */
static DEFINE_XARRAY(running);
static DEFINE_KFIFO(failed, struct early_exit, RECORDS);
static DEFINE_SPINLOCK(failed_lock);
static DECLARE_WAIT_QUEUE_HEAD(readers);

static bool is_early(struct task_struct *task)
{
	return ktime_get_ns() - task->group_leader->start_time <= EARLY_NS;
}

/* Return the record of the current process; NULL if the process is older than a second. */
static struct early_exit *own_entry(void)
{
	struct early_exit *entry = xa_load(&running, task_tgid_nr(current));

	if (entry || !is_early(current))
		return entry;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (entry && xa_err(xa_store(&running, task_tgid_nr(current), entry, GFP_KERNEL))) {
		kfree(entry);
		return NULL;
	}
	return entry;
}

/* Append to a text of at most `size` bytes, of which the first ones are never dropped. Returns its new length. */
static u32 append(char *text, u32 used, u32 first, u32 size, struct iov_iter *from)
{
	size_t more, kept;

	if (used < first)
		used += copy_from_iter(text + used, first - used, from);
	if (!iov_iter_count(from))
		return used;
	more = min_t(size_t, iov_iter_count(from), size - first);
	kept = min_t(size_t, used - first, size - first - more);
	memmove(text + first, text + used - kept, kept);
	iov_iter_advance(from, iov_iter_count(from) - more);
	return first + kept + copy_from_iter(text + first + kept, more, from);
}

static void record_output(bool errors, struct iov_iter *from)
{
	struct early_exit *entry = own_entry();

	if (!entry)
		return;
	if (errors)
		entry->error_bytes = append(entry->error, entry->error_bytes, FIRST_BYTES, ERROR_BYTES, from);
	else
		entry->output_bytes = append(entry->output, entry->output_bytes, 0, OUTPUT_BYTES, from);
}

static void record_write(long call, bool errors, void __user *data, size_t size)
{
	struct iovec few[UIO_FASTIOV], *parts = few;
	struct iov_iter from;

	if (call == __NR_write) {
		if (!import_ubuf(ITER_SOURCE, data, size, &from))
			record_output(errors, &from);
	} else if (import_iovec(ITER_SOURCE, data, size, ARRAY_SIZE(few), &parts, &from) >= 0) {
		record_output(errors, &from);
		kfree(parts);
	}
}

/*
 * Recognize a command that a shell without job control runs with &: the shell forks and ignores SIGINT and then SIGQUIT. Note it
 * at once, because the command may catch them later, and bash restores both for the last command of a list in parentheses.
 */
static void note_background(const unsigned long __user *action)
{
	struct early_exit *entry;
	unsigned long handler;

	if (!(current->flags & PF_FORKNOEXEC) || !action || get_user(handler, action) || handler != (unsigned long)SIG_IGN)
		return;
	if (current->sighand->action[SIGINT - 1].sa.sa_handler != SIG_IGN)
		return;
	entry = own_entry();
	if (entry)
		entry->flags |= IN_BACKGROUND;
}

void netlab_inspect_call(struct uml_pt_regs *regs);
void netlab_note_signal(int number);

/* Called before each system call. */
void netlab_inspect_call(struct uml_pt_regs *regs)
{
	long call = PT_SYSCALL_NR(regs->gp);
	unsigned long first = UPT_SYSCALL_ARG1(regs);
	void __user *second = (void __user *)UPT_SYSCALL_ARG2(regs);

	if ((call == __NR_write || call == __NR_writev) && (first == STDERR || first == STDOUT))
		record_write(call, first == STDERR, second, UPT_SYSCALL_ARG3(regs));
	else if (call == __NR_rt_sigaction && first == SIGQUIT)
		note_background(second);
}

/* Called before the running process handles a signal. */
void netlab_note_signal(int number)
{
	struct early_exit *entry;

	if (number != SIGHUP && number != SIGINT && number != SIGQUIT && number != SIGTERM)
		return;
	entry = own_entry();
	if (entry)
		entry->flags |= ASKED_TO_END;
}

static void describe(struct early_exit *entry, struct task_struct *task)
{
	read_lock(&tasklist_lock);
	entry->parent = task_tgid_nr(task->real_parent);
	read_unlock(&tasklist_lock);
	if (task->flags & PF_FORKNOEXEC)
		entry->flags |= NO_PROGRAM;
	entry->bytes = sizeof(*entry);
	entry->started_ns = task->group_leader->start_time;
	entry->pid = task_tgid_nr(task);
	entry->status = task->signal->group_exit_code ?: task->exit_code;
	entry->network = task->nsproxy ? task->nsproxy->net_ns->ns.inum : 0;
	entry->command_bytes = max(0, get_cmdline(task, entry->command, COMMAND_BYTES));
}

/* Called when a process gives up its memory. */
void netlab_deactivate_mm(struct task_struct *task, struct mm_struct *mm)
{
	struct early_exit *entry;

	/* A process may execute another program and continue; of several threads, only the last one ends the process. */
	if (task != current || !(task->flags & PF_EXITING) || atomic_read(&task->signal->live))
		return;
	if (is_early(task) && (task->signal->group_exit_code ?: task->exit_code)) {
		entry = own_entry();
		if (entry && !(entry->flags & ASKED_TO_END)) {
			describe(entry, task);
			/* If the queue is full, the oldest records stay. */
			kfifo_in_spinlocked(&failed, entry, 1, &failed_lock);
			wake_up_interruptible(&readers);
		}
	}
	kfree(xa_erase(&running, task_tgid_nr(task)));
}

static ssize_t exits_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	unsigned int copied;
	int err = kfifo_to_user(&failed, to, size, &copied);

	return err ?: copied;
}

static __poll_t exits_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &readers, table);
	return kfifo_is_empty(&failed) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static const struct file_operations exits_operations = {
	.owner = THIS_MODULE,
	.read = exits_read,
	.poll = exits_poll,
	.llseek = noop_llseek,
};

static struct miscdevice exits_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "netlab_exits",
	.fops = &exits_operations,
};

builtin_misc_device(exits_device);
