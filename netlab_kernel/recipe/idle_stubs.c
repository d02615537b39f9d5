/*
 * Processes of the host (stubs) whose programs have ended, kept for the next programs, because starting such a process takes a
 * third of a small program's start. A kept stub waits for its next task as a new one does, and its next address space begins by
 * unmapping everything.
 */
#define NETLAB_IDLE_STUBS 32

static struct mm_id netlab_idle_stubs[NETLAB_IDLE_STUBS];
static int netlab_idle_count;

static bool netlab_take_stub(struct mm_id *id)
{
	guard(spinlock_irqsave)(&mm_list_lock);
	if (netlab_idle_count == 0)
		return false;
	*id = netlab_idle_stubs[--netlab_idle_count];
	return true;
}

static bool netlab_keep_stub(struct mm_id *id)
{
	guard(spinlock_irqsave)(&mm_list_lock);
	if (!using_seccomp || id->pid <= 1 || id->syscall_data_len < 0 || netlab_idle_count == NETLAB_IDLE_STUBS)
		return false;
	id->syscall_data_len = 0;
	netlab_idle_stubs[netlab_idle_count++] = *id;
	return true;
}

/* Returns true if the process of the host that has died was an idle one. */
static bool netlab_forget_stub(int pid)
{
	int i;

	for (i = 0; i < netlab_idle_count; i++)
		if (netlab_idle_stubs[i].pid == pid) {
			netlab_idle_stubs[i] = netlab_idle_stubs[--netlab_idle_count];
			return true;
		}
	return false;
}

int init_new_context(struct task_struct *task, struct mm_struct *mm)
{
