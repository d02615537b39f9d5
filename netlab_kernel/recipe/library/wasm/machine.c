// SPDX-License-Identifier: GPL-2.0
/*
 * The program as a WebAssembly module, which imports three functions. run() returns when all requests are read, and continues
 * when it is called again; an exception of an imported function passes through the program to the caller of run(). WebAssembly
 * has no signals and no fault at address 0, so the program checks its progress and address 0 now and then.
 */
#include <stdint.h>
#include <string.h>
#include "../host/kernel.h"
#include "../host/protocol.h"

#define IMPORT(name) __attribute__((import_module("netlab"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))
IMPORT(read) uint32_t import_read(uint32_t at, uint32_t bytes);		/* number of bytes read; 0: none are left */
IMPORT(write) void import_write(uint32_t at, uint32_t bytes);		/* with 0 bytes the host may stop the program */
IMPORT(exit) void import_exit(uint32_t status) __attribute__((noreturn));

#define MEMORY_AT 0x4000000UL		/* the kernel's PAGE_OFFSET */
#define PAGE_BITS 16			/* of WebAssembly */
#define NULL_PAGE_BYTES 65536		/* unused bytes from address 0 on; only a null pointer writes there */
#define MAX_CHECKS 4096			/* after 2^12 swaps each: half a minute */

static uint32_t wasm_address(const void *at)
{
	return (uint32_t)(uintptr_t)at;
}

void machine_exit(int status)
{
	import_exit(status);
}

/* Report a write to an address near 0, which causes no fault in WebAssembly. Reading from there gives zeros and stays unnoticed. */
static void check_null_page(void)
{
	static int reported;
	/* Volatile, because the compiler assumes that nothing is at address 0. */
	const uint64_t *volatile start = NULL;
	const uint64_t *word = start;

	for (unsigned int i = 0; i < NULL_PAGE_BYTES / sizeof(*word); i++)
		if (word[i] && !reported++)
			send_failure("The library kernel crashed: it wrote to an address near 0.\n", 1);
}

void machine_write(const void *data, size_t bytes)
{
	uint32_t kind = bytes < sizeof(struct frame) ? 0 : ((const struct frame *)data)->kind;

	/* The host takes a message of 0 bytes for a swap of stacks. */
	if (!bytes)
		return;
	/* Questions are not checked, because a check takes as long as a question, and other answers follow. */
	if (kind != ANSWER_CONTROL && kind != ANSWER_PROGRAM)
		check_null_page();
	import_write(wasm_address(data), bytes);
}

void machine_read(void *data, size_t bytes)
{
	static unsigned char buffer[1 << 14];
	static uint32_t at, have;

	while (bytes) {
		uint32_t part = have - at < bytes ? have - at : bytes;

		memcpy(data, buffer + at, part);
		data = (char *)data + part;
		bytes -= part;
		at += part;
		if (!bytes)
			break;
		at = 0;
		have = import_read(wasm_address(buffer), sizeof(buffer));
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

/* The module has no other imports, so it is confined without further calls. */
unsigned int confine(void)
{
	return CONFINED_FILES | CONFINED_CALLS;
}

void host_check_progress(void)
{
	static unsigned long long jumps_before;
	static unsigned int checks;

	check_null_page();
	if (library_jumps != jumps_before) {
		jumps_before = library_jumps;
		checks = 0;
	} else if (++checks == MAX_CHECKS) {
		send_failure("Network time stands still: something in the run computes without end, such as a sender on a path "
			   "without a rate. Give the path a rate, or the flow a number of bytes.", 0);
	}
	import_write(0, 0);
}

void host_slept(void)
{
	send_failure("The library kernel crashed: a function slept that is in the list of functions that do not (atomic.txt).\n", 0);
}

EXPORT(run) void run(void)
{
	static int booted;

	if (booted++)
		library_run(NULL);
	else
		host_run();
}

/* Check at every swap of stacks, for a test. */
EXPORT(check_every_swap) void check_every_swap(void)
{
	library_swaps_per_check = 1;
}

/* After a trap, the host writes its reason to reason() and calls crashed(), which sends it with the kernel's log. */
static char crash_reason[256];

EXPORT(reason) char *reason(void)
{
	return crash_reason;
}

EXPORT(crashed) void crashed(void)
{
	crash_reason[sizeof(crash_reason) - 1] = 0;
	send_failure(crash_reason, 1);
}
