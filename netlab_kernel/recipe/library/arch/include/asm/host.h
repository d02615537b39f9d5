/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam between the kernel and the program that it is linked into. Nothing else crosses it; neither side sees the
 * other's headers, so only plain C types are used here.
 */
#ifndef _ASM_NETLAB_HOST_H
#define _ASM_NETLAB_HOST_H

/* What the program gives the kernel. */
void host_print(const char *text, unsigned int length);	/* a piece of the kernel's log */
void host_panic(void);					/* the kernel cannot go on; does not return */
void host_stuck(void);					/* everything sleeps and nothing will wake it, or only after the horizon */
void host_look(void);					/* in WebAssembly, now and then: does all go on? */
void host_slept(void);					/* in WebAssembly: what cannot be left was left; does not return */
void host_main(void);					/* runs as the kernel's first process; does not return */

struct library_packet {
	unsigned long long time_ns;			/* CLOCK_REALTIME */
	unsigned int tap, length, kept;			/* which tap; bytes of the whole, and of what is told */
	unsigned int offload, part_bytes;		/* as virtio_net has it: what a network card was to cut, and into what */
};
void *host_packet(const struct library_packet *packet);	/* a place for so many of its bytes */

/* A congestion control that asks the program: what TCP tells it, */
enum library_event { CONTROL_START, CONTROL_ACK, CONTROL_LOSS, CONTROL_TIMEOUT, CONTROL_UNDO };
#define CONTROL_MAY_GROW 1				/* where Linux's own controls would let the window grow */
#define CONTROL_APP_LIMITED 2				/* the rate's sample is of a time with too little to send */
#define CONTROL_IS_NEW 4				/* a loss or timeout for which Linux's own would cut the threshold */
#define CONTROL_ACCURATE_ECN 8				/* the connection has negotiated AccECN (RFC 9768) */
struct library_state {
	unsigned long long now_ns;			/* CLOCK_MONOTONIC */
	unsigned int port, event, flags, mss_bytes;	/* the port is that of the other end */
	unsigned long long delivery_rate;		/* bytes/s, the latest sample; 0 before the first */
	unsigned int window, threshold, in_flight;	/* segments; after an undone loss those to go back to */
	unsigned int delivered, marked, lost;		/* segments: newly; newly; now taken for lost */
	int rtt_us;					/* of this ACK, or negative */
	unsigned int rtt_min_us;			/* or all ones */
};
/* and what it is told. */
struct library_control {
	unsigned int window, threshold;			/* segments */
	unsigned long long pacing_rate;			/* bytes/s; 0: as Linux paces */
	unsigned long long ect;				/* 1: data are sent with ECT(1), else with ECT(0), if ECN is negotiated */
};
void host_control(const struct library_state *state, struct library_control *control);

/* What the kernel gives the program. */
struct library_boot {
	void *memory;					/* all of the kernel's memory, zeroed */
	unsigned long memory_bytes;
	unsigned long long seed;			/* all randomness but the network's follows from it */
	unsigned long long start_s;			/* CLOCK_REALTIME at boot, in s since 1970 */
	const char *command_line;
};
void library_boot(const struct library_boot *boot);	/* returns in WebAssembly alone, when the program pauses */
long library_syscall(long number, long a, long b, long c, long d, long e, long f);
int library_pause(void);				/* in WebAssembly: to the caller of library_boot() or library_run() */
extern unsigned int library_swaps_a_look;
long library_thread(int (*function)(void *), void *argument);
void network_seed(unsigned long long seed);		/* what the network draws follows from it from now on */
long library_tap(const char *device, unsigned int number, int outgoing, unsigned int snap_bytes);
extern unsigned long long library_now_ns;		/* CLOCK_MONOTONIC */
extern unsigned long long library_horizon_ns;		/* the clock never passes this */
extern unsigned long long library_jumps;		/* how often the clock has moved */

/* Inside the kernel. */
unsigned long library_random_longs(unsigned long *words, unsigned long count);
void library_time_start(const struct library_boot *boot);
void library_random_start(unsigned long long seed);
void *library_fresh_stack(void *stack);
void *library_swap(void **save, void *load, void *argument);
void library_run(void *first);
#endif
