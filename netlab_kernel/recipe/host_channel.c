// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/netlab: the channel to the process of the host that started the guest, over descriptors of the host.
 *
 *   netlab_channel=<fd>   the descriptor that /dev/netlab reads and writes (one end of a socket pair)
 *   netlab_urgent=<fd>    a byte on this descriptor interrupts the guest at any time
 *
 * A read blocks the whole kernel in the host's read(2). Nothing in the guest runs meanwhile, its clock stands still to
 * the nanosecond, and the host's processor is free. A read returns 0 bytes if the other process is gone.
 *
 * Virtual time never passes while a program computes, so no timer could stop a program that computes for ever. The
 * urgent descriptor can: 'i' sends SIGINT to the process group that NETLAB_FOREGROUND has set; 'k' sends it SIGKILL, and
 * also to the program that is running, unless that is the first process or one of its threads; 'p' lets that program sleep
 * for PAUSE_MS of virtual time, so that all others run and network time passes.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/network_random.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <init.h>
#include <irq_kern.h>
#include <os.h>

#define NETLAB_SEED		_IOW('N', 1, __u64)
#define NETLAB_FOREGROUND	_IOW('N', 2, __s32)
#define PAUSE_MS		100

extern void netlab_set_seed(unsigned long long seed);

static int channel_fd = -1;
static int urgent_fd = -1;
static int foreground;
static char channel_buffer[65536];
static DEFINE_MUTEX(channel_lock);

static int __init channel_setup(char *text, int *add)
{
	*add = 0;
	return kstrtoint(text, 10, &channel_fd);
}
__uml_setup("netlab_channel=", channel_setup,
"netlab_channel=<descriptor>\n"
"    The descriptor of the host that /dev/netlab reads and writes.\n\n");

static int __init urgent_setup(char *text, int *add)
{
	*add = 0;
	return kstrtoint(text, 10, &urgent_fd);
}
__uml_setup("netlab_urgent=", urgent_setup,
"netlab_urgent=<descriptor>\n"
"    The descriptor of the host whose bytes interrupt the guest.\n\n");

static ssize_t channel_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	int got;

	mutex_lock(&channel_lock);
	do
		got = os_read_file(channel_fd, channel_buffer, min(size, sizeof(channel_buffer)));
	while (got == -EINTR);
	if (got > 0 && copy_to_user(to, channel_buffer, got))
		got = -EFAULT;
	mutex_unlock(&channel_lock);
	return got;
}

static ssize_t channel_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	int put = -EFAULT;

	size = min(size, sizeof(channel_buffer));
	mutex_lock(&channel_lock);
	if (!copy_from_user(channel_buffer, from, size))
		do
			put = os_write_file(channel_fd, channel_buffer, size);
		while (put == -EINTR);
	mutex_unlock(&channel_lock);
	return put;
}

static long channel_ioctl(struct file *file, unsigned int what, unsigned long arg)
{
	u64 seed;

	switch (what) {
	case NETLAB_SEED:
		if (copy_from_user(&seed, (void __user *)arg, sizeof(seed)))
			return -EFAULT;
		netlab_set_seed(seed);
		network_seed(seed);
		return 0;
	case NETLAB_FOREGROUND:
		return get_user(foreground, (int __user *)arg);
	}
	return -ENOTTY;
}

static const struct file_operations channel_operations = {
	.owner = THIS_MODULE,
	.read = channel_read,
	.write = channel_write,
	.unlocked_ioctl = channel_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice channel_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "netlab",
	.fops = &channel_operations,
};

/* Runs in the program itself, before it continues. */
static void pause_program(struct callback_head *work)
{
	ktime_t pause = ms_to_ktime(PAUSE_MS);

	kfree(work);
	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout(&pause, HRTIMER_MODE_REL);
}

static void request_pause(void)
{
	struct callback_head *work = kmalloc(sizeof(*work), GFP_ATOMIC);

	if (!work)
		return;
	init_task_work(work, pause_program);
	if (task_work_add(current, work, TWA_RESUME))
		kfree(work);
}

static irqreturn_t urgent_interrupt(int irq, void *data)
{
	int number;
	char byte;

	if (os_read_file(urgent_fd, &byte, 1) != 1)
		/* The process that started the guest is gone, so end. */
		os_kill_process(os_getpid(), 0);
	number = byte == 'k' ? SIGKILL : SIGINT;
	if (foreground > 0 && byte != 'p') {
		rcu_read_lock();
		kill_pgrp(find_pid_ns(foreground, &init_pid_ns), number, 1);
		rcu_read_unlock();
	}
	if (current->mm && !is_global_init(current->group_leader)) {
		if (byte == 'k')
			send_sig(SIGKILL, current, 1);
		else if (byte == 'p')
			request_pause();
		/* The program runs in a process of the host, which only a signal of the host returns to this kernel. */
		os_alarm_process(current->mm->context.id.pid);
	}
	return IRQ_HANDLED;
}

static int __init channel_init(void)
{
	int err;

	if (channel_fd < 0)
		return 0;
	if (urgent_fd >= 0) {
		err = um_request_irq(UM_IRQ_ALLOC, urgent_fd, IRQ_READ, urgent_interrupt, 0, "netlab", &urgent_fd);
		if (err < 0)
			pr_err("netlab: the urgent descriptor %d is refused (%d)\n", urgent_fd, err);
	}
	return misc_register(&channel_device);
}
device_initcall(channel_init);
