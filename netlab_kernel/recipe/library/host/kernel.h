// SPDX-License-Identifier: GPL-2.0
/* The kernel's interface for this program (its system calls are functions), and the functions of this program's files. */
#ifndef NETLAB_KERNEL_H
#define NETLAB_KERNEL_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <library_unistd.h>	/* numbers of this kernel's system calls; the machine's kernel may have others */
#include "../arch/include/asm/host.h"

#define call(name, ...) call_(__NR_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define call_(number, a, b, c, d, e, f, ...) \
	library_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL

static inline uint64_t now_ns(void) { return library_now_ns; }
void sleep_until(uint64_t when_ns);

/* host.c */
extern uint64_t realtime_ahead_ns;
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
long must(long result, const char *doing);
void answer(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes);
const unsigned char *ask(uint32_t kind, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
			 size_t least, uint32_t *bytes);
void *allocate(size_t bytes);
void send_failure(const char *text, int with_log) __attribute__((noreturn));
void host_run(void);

/* native/ or wasm/ */
void machine_read(void *data, size_t bytes);
void machine_write(const void *data, size_t bytes);
void machine_exit(int status) __attribute__((noreturn));
void *machine_memory(size_t bytes);	/* zeroed, at the kernel's PAGE_OFFSET */
void exit_with_parent(long parent);
unsigned int confine(void);		/* CONFINED_FILES, CONFINED_CALLS */

/* control.c */
struct sampled;
void prepare_control(void);
int add_node(void);
void enter_node(int node);
void send_netlink(const void *messages, size_t bytes);
void write_setting(const char *path, const char *value);
void wait_for(const char *interface);
void add_queue(const struct sampled *queue);
void wait_for_interfaces(void);
void sample_queues(uint32_t step);

/* changes.c */
struct at;
void add_batch(const struct at *at, const void *messages, size_t bytes);
void make_first_changes(void);
void follow_changes(void);

/* taps.c */
struct tap;
void add_tap(const struct tap *tap);
void report_packets(void);
void close_tap(uint32_t number);

/* traffic.c */
struct flow;
struct go;
extern uint64_t origin_ns;
void add_flow(const struct flow *flow, const char *label);
void run_traffic(const struct go *go);
struct advance;
void begin_traffic(const struct go *go);
void advance_traffic(const struct advance *advance);
void stop_item(uint32_t item);
void finish_traffic(uint64_t until_ns);
void report_tables(void);

/* programs.c */
struct ends;
struct ends *open_ends(const struct flow *flow, const char *label);
void start_ends(struct ends *ends);
void stop_ends(struct ends *ends);

/* random.c */
struct twister {
	uint32_t state[624];
	int place;
};
void twister_start(struct twister *twister, const uint32_t *key, int words);
uint32_t twister_word(struct twister *twister);
double twister_next(struct twister *twister);
double nth_root(double value, uint64_t n);

/* stream_counters.c */
struct gap {
	uint64_t start, end;
};
struct udp_interval;
struct stream_counters {
	uint64_t received_datagrams, received_bytes, duplicates, reordered, next_seq;
	uint64_t origin_ns, interval_ns, first_ns, last_ns;
	/* The datagrams that arrived less than timely_ns after the first one. */
	uint64_t timely_ns, timely_datagrams, timely_bytes, timely_duplicates, timely_last_ns;
	double jitter_ns;
	int64_t last_transit_ns, delay_min_ns, delay_max_ns, delay_sum_ns;
	struct gap *gaps;
	size_t gap_count, gap_capacity;
	struct udp_interval *intervals;
	size_t interval_count;
	int grows;	/* the number of intervals is unknown, as in a live network */
};
void count_datagram(struct stream_counters *counters, uint64_t seq, uint64_t sent_ns, uint64_t arrival_ns, uint64_t bytes);
#endif
