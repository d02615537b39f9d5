/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the kernel and the program that it is linked into: all functions and variables that both use. Neither
 * side includes the other's headers, so this file has plain C types only.
 */
#ifndef _ASM_NETLAB_HOST_H
#define _ASM_NETLAB_HOST_H

/* Functions of the program for the kernel. */
void host_print(const char *text, unsigned int length);	/* adds to the kernel's log */
void host_panic(void);					/* the kernel cannot continue; does not return */
void host_deadlock(void);				/* all threads sleep, and no timer expires before the horizon */
void host_check_progress(void);				/* called now and then in WebAssembly, instead of signals */
void host_slept(void);					/* in WebAssembly: a function of atomic.txt slept; does not return */
void host_main(void);					/* runs as the kernel's first process; does not return */

struct library_packet {
	unsigned long long time_ns;			/* CLOCK_REALTIME */
	unsigned int tap, length, kept;			/* number of the tap; bytes of the packet; bytes kept */
	unsigned int offload, part_bytes;		/* segmentation offload, as in struct virtio_net_hdr */
};
void *host_packet(const struct library_packet *packet);	/* returns memory for the kept bytes */

/* The user's congestion control: the kernel passes TCP's state at an event, */
enum library_event { CONTROL_START, CONTROL_ACK, CONTROL_LOSS, CONTROL_TIMEOUT, CONTROL_UNDO };
#define CONTROL_MAY_GROW 1				/* Linux's own controls would let the window grow */
#define CONTROL_APP_LIMITED 2				/* the application limited the sample of the delivery rate */
#define CONTROL_IS_NEW 4				/* a loss or timeout for which Linux's own controls would reduce the threshold */
#define CONTROL_ACCURATE_ECN 8				/* the connection has negotiated AccECN (RFC 9768) */
struct library_state {
	unsigned long long now_ns;			/* CLOCK_MONOTONIC */
	unsigned int port, event, flags, mss_bytes;	/* port of the other end */
	unsigned long long delivery_rate;		/* bytes/s, the latest sample; 0 before the first */
	unsigned int window, threshold, in_flight;	/* segments; after an undone loss the former ones */
	unsigned int delivered, marked, lost;		/* segments: newly delivered; newly marked; in total considered lost */
	int rtt_us;					/* sample of this ACK, or negative */
	unsigned int rtt_min_us;			/* all ones without a sample */
};
/* and the program replies with the new values. */
struct library_control {
	unsigned int window, threshold;			/* segments */
	unsigned long long pacing_rate;			/* bytes/s; 0: Linux's own pacing */
	unsigned long long ect;				/* 1: data are sent with ECT(1), else with ECT(0), if ECN is negotiated */
};
void host_control(const struct library_state *state, struct library_control *control);

/* Functions and variables of the kernel for the program. */
struct library_boot {
	void *memory;					/* all of the kernel's memory, zeroed */
	unsigned long memory_bytes;
	unsigned long long seed;			/* all randomness but the network's follows from it */
	unsigned long long start_s;			/* CLOCK_REALTIME at boot, in s since 1970 */
	const char *command_line;
};
void library_boot(const struct library_boot *boot);	/* returns only in WebAssembly, when the program pauses */
long library_syscall(long number, long a, long b, long c, long d, long e, long f);
int library_pause(void);				/* in WebAssembly: return to the caller of library_boot() or library_run() */
extern unsigned int library_swaps_per_check;
long library_thread(int (*function)(void *), void *argument);
void network_seed(unsigned long long seed);		/* of all random draws of the network from now on */
long library_tap(const char *device, unsigned int number, int outgoing, unsigned int snap_bytes);
extern unsigned long long library_now_ns;		/* CLOCK_MONOTONIC */
extern unsigned long long library_horizon_ns;		/* the clock never passes this */
extern unsigned long long library_jumps;		/* number of times that the clock has moved */

/* Inside the kernel. */
unsigned long library_random_longs(unsigned long *words, unsigned long count);
void library_time_start(const struct library_boot *boot);
void library_random_start(unsigned long long seed);
void *library_fresh_stack(void *stack);
void *library_swap(void **save, void *load, void *argument);
void library_run(void *first);
#endif
