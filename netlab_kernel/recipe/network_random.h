/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code under net/ draws random numbers from streams of its own: one for each source file, all from one seed. So programs and
 * other parts of the kernel do not change the draws for a packet, and both kernels draw the same numbers.
 * Keys that Linux draws once are drawn again after each seeding, from their names, because the time of their first use depends
 * on earlier runs. The numbers need not be secret, because nothing outside can reach these networks.
 */
#ifndef _LINUX_NETWORK_RANDOM_H
#define _LINUX_NETWORK_RANDOM_H
#include <linux/random.h>

struct network_stream {
	const char *name;
	u32 seeding;
	u64 state;
};

extern u32 network_seeding;
void network_seed(u64 seed);
u64 network_draw(struct network_stream *stream);
void network_bytes(struct network_stream *stream, void *to, size_t count);
void network_key(const char *file, const char *name, void *to, size_t count);

static struct network_stream network_stream __maybe_unused = { .name = KBUILD_BASENAME };

/* The distribution differs from a uniform one by at most 2**-32. */
static inline u32 network_below(struct network_stream *stream, u32 ceil)
{
	return (u64)(u32)network_draw(stream) * ceil >> 32;
}

#define get_random_bytes(to, count) network_bytes(&network_stream, to, count)
#define get_random_u8() ((u8)network_draw(&network_stream))
#define get_random_u16() ((u16)network_draw(&network_stream))
#define get_random_u32() ((u32)network_draw(&network_stream))
#define get_random_u64() network_draw(&network_stream)
#define get_random_long() ((unsigned long)network_draw(&network_stream))
#define get_random_u32_below(ceil) network_below(&network_stream, ceil)
#define get_random_u32_inclusive(floor, ceil) network_between(&network_stream, floor, ceil)
#define get_random_u32_above(floor) network_between(&network_stream, (floor) + 1, U32_MAX)

static inline u32 network_between(struct network_stream *stream, u32 floor, u32 ceil)
{
	return floor + network_below(stream, ceil - floor + 1);
}

#define get_random_once(to, count)						\
	({									\
		static u32 drawn_seeding;					\
		bool new_key = drawn_seeding != network_seeding;		\
		if (unlikely(new_key)) {					\
			drawn_seeding = network_seeding;			\
			network_key(KBUILD_BASENAME, #to, to, count);		\
		}								\
		new_key;							\
	})
#define get_random_sleepable_once(to, count) get_random_once(to, count)
#endif
