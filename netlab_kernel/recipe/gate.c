// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/netlab: the guest talks with whoever started it, over a descriptor of the host.
 *
 *   netlab_gate=<fd>      what /dev/netlab reads and writes (one end of a socket pair)
 *   netlab_urgent=<fd>    a byte that comes here interrupts the guest whatever it does
 *
 * A read blocks the kernel itself in the host's read(2). Nothing in the guest runs meanwhile, its clock stands still to
 * the nanosecond, and the host's processor is free. A read of 0 bytes means that the other side has gone.
 *
 * Virtual time never passes while a program computes, so no timer could stop one that computes for ever. The
 * urgent descriptor can: 'i' sends SIGINT to the process group named with NETLAB_FOREGROUND, 'k' sends it SIGKILL, and
 * SIGKILL to whichever program is running as well, unless that is the first process or one of its threads.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/network_random.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <init.h>
#include <irq_kern.h>
#include <os.h>

#define NETLAB_SEED		_IOW('N', 1, __u64)
#define NETLAB_FOREGROUND	_IOW('N', 2, __s32)

extern void netlab_set_seed(unsigned long long seed);

static int gate_fd = -1;
static int urgent_fd = -1;
static int foreground;
static char gate_page[65536];
static DEFINE_MUTEX(gate_lock);

static int __init gate_setup(char *text, int *add)
{
	*add = 0;
	return kstrtoint(text, 10, &gate_fd);
}
__uml_setup("netlab_gate=", gate_setup,
"netlab_gate=<descriptor>\n"
"    Where /dev/netlab reads and writes on the host.\n\n");

static int __init urgent_setup(char *text, int *add)
{
	*add = 0;
	return kstrtoint(text, 10, &urgent_fd);
}
__uml_setup("netlab_urgent=", urgent_setup,
"netlab_urgent=<descriptor>\n"
"    Where bytes come that stop what the guest is doing.\n\n");

static ssize_t gate_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	int got;

	mutex_lock(&gate_lock);
	do
		got = os_read_file(gate_fd, gate_page, min(size, sizeof(gate_page)));
	while (got == -EINTR);
	if (got > 0 && copy_to_user(to, gate_page, got))
		got = -EFAULT;
	mutex_unlock(&gate_lock);
	return got;
}

static ssize_t gate_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	int put = -EFAULT;

	size = min(size, sizeof(gate_page));
	mutex_lock(&gate_lock);
	if (!copy_from_user(gate_page, from, size))
		do
			put = os_write_file(gate_fd, gate_page, size);
		while (put == -EINTR);
	mutex_unlock(&gate_lock);
	return put;
}

static long gate_ioctl(struct file *file, unsigned int what, unsigned long arg)
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

static const struct file_operations gate_operations = {
	.owner = THIS_MODULE,
	.read = gate_read,
	.write = gate_write,
	.unlocked_ioctl = gate_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice gate_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "netlab",
	.fops = &gate_operations,
};

static irqreturn_t urgent_interrupt(int irq, void *data)
{
	int number;
	char byte;

	if (os_read_file(urgent_fd, &byte, 1) != 1)
		/* The other side has gone, so nobody is left to run for. */
		os_kill_process(os_getpid(), 0);
	number = byte == 'k' ? SIGKILL : SIGINT;
	if (foreground > 0) {
		rcu_read_lock();
		kill_pgrp(find_pid_ns(foreground, &init_pid_ns), number, 1);
		rcu_read_unlock();
	}
	if (current->mm && !is_global_init(current->group_leader)) {
		if (number == SIGKILL)
			send_sig(SIGKILL, current, 1);
		/* The program runs in a process of the host's; only a signal there brings it back to this kernel. */
		os_alarm_process(current->mm->context.id.pid);
	}
	return IRQ_HANDLED;
}

static int __init gate_init(void)
{
	int err;

	if (gate_fd < 0)
		return 0;
	if (urgent_fd >= 0) {
		err = um_request_irq(UM_IRQ_ALLOC, urgent_fd, IRQ_READ, urgent_interrupt, 0, "netlab", &urgent_fd);
		if (err < 0)
			pr_err("netlab: the urgent descriptor %d is refused (%d)\n", urgent_fd, err);
	}
	return misc_register(&gate_device);
}
device_initcall(gate_init);
