// SPDX-License-Identifier: GPL-2.0
/* Threads: a switch is a swap of stacks. Nothing preempts, so it saves only the registers that a C function must preserve. */
#include <linux/init_task.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/start_kernel.h>
#include <linux/string.h>
#include <asm/host.h>
#include <asm/switch_to.h>

struct task_struct *library_current = &init_task;

void library_entry(void);
void library_begin(struct task_struct *previous);

#if defined(__wasm__)
/*
 * WebAssembly keeps calls on a stack that no program can swap. Binaryen's pass "asyncify" gives each function two more ways to
 * run: to return and save its locals and position (unwind), and to return to that position (rewind). The saved calls of a thread
 * are at the lower end of its stack in linear memory; at the upper end are the variables whose addresses C code takes.
 */
unsigned int library_swaps_per_check = 4096;
/* Asyncify's structure: the address that it writes next, and the limit. 32 bits, because --memory64-lowering comes first. */
struct asyncify_calls { unsigned int at, end; };
struct fiber { struct asyncify_calls calls; void *sp; int fresh; };
#define ASYNCIFY(name) __attribute__((import_module("asyncify"), import_name(#name)))
ASYNCIFY(start_unwind) void asyncify_start_unwind(unsigned int calls);
ASYNCIFY(stop_unwind) void asyncify_stop_unwind(void);
ASYNCIFY(start_rewind) void asyncify_start_rewind(unsigned int calls);
ASYNCIFY(stop_rewind) void asyncify_stop_rewind(void);
void *library_sp(void);
void library_set_sp(void *sp);

static struct fiber *running, *paused, outside;
static void *passed;
static int unwinding, rewinding;

/* Make a fiber at the lower end of a stack, above the word by which Linux detects an overflow. */
void *library_fresh_stack(void *stack)
{
	struct fiber *fiber = stack + 64;

	fiber->sp = stack + THREAD_SIZE - 256;
	fiber->fresh = 1;
	return fiber;
}

noinline void *library_swap(void **save, void *load, void *argument)
{
	static unsigned int swaps;

	if (rewinding) {
		rewinding = 0;
		asyncify_stop_rewind();
		return passed;
	}
	if (unwinding)
		host_slept();
	if (!(++swaps % library_swaps_per_check))
		host_check_progress();
	*save = running;
	running->sp = library_sp();
	running->calls.at = (unsigned long)(running + 1);
	running->calls.end = (unsigned long)running->sp - 1024;
	unwinding = 1;
	asyncify_start_unwind((unsigned long)&running->calls);
	running = load;
	passed = argument;
	return NULL;
}

/* Return to the caller that started the kernel, until it calls library_run(NULL). */
int library_pause(void)
{
	if (!running)
		return -EAGAIN;
	library_swap((void **)&paused, &outside, NULL);
	return 0;
}

/*
 * Run the threads, all from here. The pointer is volatile because the compiler knows that library_begin() does not return,
 * which is wrong when it is unwound.
 */
void library_run(void *first)
{
	static void (*volatile begin)(struct task_struct *) = library_begin;
	void *sp = library_sp();

	for (running = first ? first : paused; running != &outside;) {
		struct fiber *fiber = running;

		library_set_sp(fiber->sp);
		if (fiber->fresh) {
			fiber->fresh = 0;
			begin(passed);
		} else {
			rewinding = 1;
			asyncify_start_rewind((unsigned long)&fiber->calls);
			begin(NULL);
		}
		unwinding = 0;
		asyncify_stop_unwind();
	}
	library_set_sp(sp);
}
#else
#if defined(__x86_64__)
/* By the System V ABI, a function must preserve rbx, rbp and r12 to r15. */
asm(".pushsection .text\n"
    ".globl library_swap\n"
    "library_swap:\n"
    "	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
    "	mov %rsp, (%rdi)\n"
    "	mov %rsi, %rsp\n"
    "	mov %rdx, %rax\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
    "	ret\n"
    ".globl library_entry\n"
    "library_entry:\n"
    "	mov %rax, %rdi\n"
    "	xor %ebp, %ebp\n"
    "	call library_begin\n"
    "	ud2\n"
    ".popsection\n");
#define FRAME_WORDS 7
#define FRAME_PC 6
#elif defined(__aarch64__)
/* By AAPCS64, a function must preserve x19 to x30 and the lower halves of v8 to v15. */
asm(".pushsection .text\n"
    ".globl library_swap\n"
    "library_swap:\n"
    "	sub sp, sp, #160\n"
    "	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n	stp x25, x26, [sp, #48]\n"
    "	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
    "	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
    "	mov x9, sp\n"
    "	str x9, [x0]\n"
    "	mov sp, x1\n"
    "	mov x0, x2\n"
    "	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n	ldp x25, x26, [sp, #48]\n"
    "	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
    "	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
    "	add sp, sp, #160\n"
    "	ret\n"
    ".globl library_entry\n"
    "library_entry:\n"
    "	bl library_begin\n"
    "	brk #0\n"
    ".popsection\n");
#define FRAME_WORDS 20
#define FRAME_PC 11
#else
#error "The library kernel supports x86-64, aarch64 and WebAssembly."
#endif

/* Prepare a stack on which library_swap() returns to library_entry(). */
void *library_fresh_stack(void *stack)
{
	unsigned long *sp = (unsigned long *)((unsigned long)stack + THREAD_SIZE - 256) - FRAME_WORDS;

	memset(sp, 0, FRAME_WORDS * sizeof(*sp));
	sp[FRAME_PC] = (unsigned long)library_entry;
	return sp;
}

void library_run(void *first)
{
	static void *discarded;

	library_swap(&discarded, first, NULL);
	BUG();
}
#endif

struct task_struct *__switch_to(struct task_struct *previous, struct task_struct *next)
{
	library_current = next;
	return library_swap(&previous->thread.sp, next->thread.sp, previous);
}

void library_begin(struct task_struct *previous)
{
	if (!previous) {
		start_kernel();
		BUG();
	}
	schedule_tail(previous);
	current->thread.function(current->thread.argument);
	do_exit(0);
}

int copy_thread(struct task_struct *p, const struct kernel_clone_args *args)
{
	if (!args->fn)
		return -EINVAL;
	p->thread.sp = library_fresh_stack(task_stack_page(p));
	p->thread.function = args->fn;
	p->thread.argument = args->fn_arg;
	return 0;
}

/* Start a process of the kernel that runs a function of the host program. It shares its parent's open files. */
long library_thread(int (*function)(void *), void *argument)
{
	struct kernel_clone_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED,
		.exit_signal = SIGCHLD,
		.fn = function,
		.fn_arg = argument,
	};

	return kernel_clone(&args);
}

void flush_thread(void) { }
void show_stack(struct task_struct *task, unsigned long *sp, const char *level) { }
void show_regs(struct pt_regs *regs) { }
long arch_ptrace(struct task_struct *child, long request, unsigned long address, unsigned long data) { return -EIO; }
void ptrace_disable(struct task_struct *child) { }
