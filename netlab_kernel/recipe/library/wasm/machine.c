// SPDX-License-Identifier: GPL-2.0
/*
 * The program in a sandbox, which gives it three functions and takes nothing else. run() returns when all requests are
 * read, and goes on when it is called again; what the functions throw goes through all of the program to the caller of
 * run(). Signals, and a fault at address 0, are not there; looks now and then stand for them.
 */
#include <stdint.h>
#include <string.h>
#include "../host/kernel.h"
#include "../host/protocol.h"

#define IMPORT(name) __attribute__((import_module("netlab"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))
IMPORT(read) uint32_t import_read(uint32_t at, uint32_t bytes);		/* how many came; 0: none are left */
IMPORT(write) void import_write(uint32_t at, uint32_t bytes);		/* none: it may stop us here */
IMPORT(exit) void import_exit(uint32_t status) __attribute__((noreturn));

#define MEMORY_AT 0x4000000UL		/* the kernel's PAGE_OFFSET */
#define PAGE_BITS 16			/* of WebAssembly */
#define NOBODYS_BYTES 65536		/* at address 0: no stack grows so far, so only a pointer that is none writes there */
#define MAX_LOOKS 4096			/* of 2^12 swaps each: half a minute */

static uint32_t place(const void *at)
{
	return (uint32_t)(uintptr_t)at;
}

void machine_exit(int status)
{
	import_exit(status);
}

/* What a fault at address 0 would have told. A pointer that is none may still be read: it gives zeros. */
static void check_start(void)
{
	static int told;
	/* The compiler would know that nothing can be at address 0. */
	const uint64_t *volatile start = NULL;
	const uint64_t *word = start;

	for (unsigned int i = 0; i < NOBODYS_BYTES / sizeof(*word); i++)
		if (word[i] && !told++)
			last_words("The library kernel crashed: it wrote to an address near 0.\n", 1);
}

void machine_write(const void *data, size_t bytes)
{
	uint32_t kind = bytes < sizeof(struct frame) ? 0 : ((const struct frame *)data)->kind;

	/* Nothing is what a swap of stacks is told by. */
	if (!bytes)
		return;
	/* A look takes as long as a question, and what a question leads to is told by other answers. */
	if (kind != ANSWER_CONTROL && kind != ANSWER_PROGRAM)
		check_start();
	import_write(place(data), bytes);
}

void machine_read(void *data, size_t bytes)
{
	static unsigned char room[1 << 14];
	static uint32_t at, have;

	while (bytes) {
		uint32_t part = have - at < bytes ? have - at : bytes;

		memcpy(data, room + at, part);
		data = (char *)data + part;
		bytes -= part;
		at += part;
		if (!bytes)
			break;
		at = 0;
		have = import_read(place(room), sizeof(room));
		if (!have && library_pause() < 0)
			machine_exit(2);
	}
}

void *machine_memory(size_t bytes)
{
	size_t pages = (MEMORY_AT + bytes) >> PAGE_BITS, have = __builtin_wasm_memory_size(0);

	if (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (size_t)-1)
		fail("The library kernel needs %zu MB of memory, which there is not. Close other pages or programs.", bytes >> 20);
	return (void *)MEMORY_AT;
}

/* The program that runs the module gives it nothing else. */
unsigned int confine(void)
{
	return CONFINED_FILES | CONFINED_CALLS;
}

void host_look(void)
{
	static unsigned long long jumps_before;
	static unsigned int looks;

	check_start();
	if (library_jumps != jumps_before) {
		jumps_before = library_jumps;
		looks = 0;
	} else if (++looks == MAX_LOOKS) {
		last_words("Network time stands still: something in the run computes without end, such as a sender on a path "
			   "without a rate. Give the path a rate, or the flow a number of bytes.", 0);
	}
	import_write(0, 0);
}

void host_slept(void)
{
	last_words("The library kernel crashed: a function that is said not to sleep (atomic.txt) slept.\n", 0);
}

EXPORT(run) void run(void)
{
	static int booted;

	if (booted++)
		library_run(NULL);
	else
		host_run();
}

/* So that a test sees every stack that is swapped, and not one of thousands. */
EXPORT(look_at_every_swap) void look_at_every_swap(void)
{
	library_swaps_a_look = 1;
}

/* After a trap: its reason is written to reason(), then crashed() has the last words. */
static char why[256];

EXPORT(reason) char *reason(void)
{
	return why;
}

EXPORT(crashed) void crashed(void)
{
	why[sizeof(why) - 1] = 0;
	last_words(why, 1);
}
