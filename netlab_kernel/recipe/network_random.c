// SPDX-License-Identifier: GPL-2.0
/* The streams from which the network draws (network_random.h): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
#include <linux/network_random.h>
#include <linux/string.h>

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ULL

u32 network_seeding = 1;
/* The initial seed is the same in every kernel. */
static u64 network_seed_now;

static u64 mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Continue a hash by FNV-1a. */
static u64 hash_name(u64 hash, const char *name)
{
	while (*name)
		hash = (hash ^ (u8)*name++) * 0x100000001b3ULL;
	return hash;
}

static void start(struct network_stream *stream, const char *key)
{
	stream->seeding = network_seeding;
	stream->state = mix(network_seed_now ^ mix(hash_name(hash_name(0xcbf29ce484222325ULL, stream->name), key)));
}

void network_seed(u64 seed)
{
	network_seed_now = seed;
	network_seeding++;
}

u64 network_draw(struct network_stream *stream)
{
	if (stream->seeding != network_seeding)
		start(stream, "");
	stream->state += GOLDEN_GAMMA;
	return mix(stream->state);
}

void network_bytes(struct network_stream *stream, void *to, size_t count)
{
	u64 word;

	for (; count; to += min(count, sizeof(word)), count -= min(count, sizeof(word))) {
		word = network_draw(stream);
		memcpy(to, &word, min(count, sizeof(word)));
	}
}

void network_key(const char *file, const char *name, void *to, size_t count)
{
	struct network_stream key = { .name = file };

	start(&key, name);
	network_bytes(&key, to, count);
}
