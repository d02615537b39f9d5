// SPDX-License-Identifier: GPL-2.0
/* The functions of a C library and of a compiler's run-time that the kernel and its program need in WebAssembly. */
#include <stddef.h>
#include <stdint.h>

/* ---- memory ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *d = to;
	const unsigned char *s = from;

	if (n > 256) {
		__asm__ volatile("local.get %0\n local.get %1\n local.get %2\n memory.copy 0, 0" : : "r"(d), "r"(s), "r"(n) : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, d += 8, s += 8) {
		uint64_t x;
		__builtin_memcpy(&x, s, 8);
		__builtin_memcpy(d, &x, 8);
	}
	while (n--)
		*d++ = *s++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	__asm__ volatile("local.get %0\n local.get %1\n local.get %2\n memory.copy 0, 0" : : "r"(to), "r"(from), "r"(n) : "memory");
	return to;
}

void *memset(void *to, int c, size_t n)
{
	unsigned char *d = to;
	uint64_t word = (unsigned char)c * 0x0101010101010101ull;

	if (n > 256) {
		__asm__ volatile("local.get %0\n local.get %1\n local.get %2\n memory.fill 0" : : "r"(d), "r"(c), "r"(n) : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, d += 8)
		__builtin_memcpy(d, &word, 8);
	while (n--)
		*d++ = c;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	const char *at = s;

	while (*at)
		at++;
	return at - s;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t i = 0;

	for (; i < n && from[i]; i++)
		to[i] = from[i];
	for (; i < n; i++)
		to[i] = 0;
	return to;
}

uint16_t htons(uint16_t x) { return x << 8 | x >> 8; }

/* ---- the heap: blocks of powers of two, between the program's data and the kernel's memory ---- */

extern unsigned char __heap_base;
#define HEAP_END 0x4000000ul		/* the kernel's PAGE_OFFSET */
struct chunk { uint64_t size_class, next; };
static struct chunk *free_chunks[64];
static unsigned long top;

void *malloc(size_t n)
{
	unsigned int size_class = 5;
	struct chunk *p;

	while ((1ul << size_class) < n + sizeof(*p))
		size_class++;
	p = free_chunks[size_class];
	if (p) {
		free_chunks[size_class] = (struct chunk *)p->next;
	} else {
		if (!top)
			top = ((unsigned long)&__heap_base + 15) & ~15ul;
		if ((1ul << size_class) > HEAP_END - top)
			return NULL;
		p = (struct chunk *)top;
		top += 1ul << size_class;
	}
	p->size_class = size_class;
	return p + 1;
}

void free(void *given)
{
	struct chunk *p = (struct chunk *)given - 1;

	if (given) {
		p->next = (uint64_t)free_chunks[p->size_class];
		free_chunks[p->size_class] = p;
	}
}

void *calloc(size_t count, size_t n)
{
	void *p = malloc(count * n);

	return p ? memset(p, 0, count * n) : NULL;
}

void *realloc(void *given, size_t n)
{
	size_t old_bytes = given ? (1ul << ((struct chunk *)given - 1)->size_class) - sizeof(struct chunk) : 0;
	void *p;

	if (n <= old_bytes)
		return given;
	p = malloc(n);
	if (p && given) {
		memcpy(p, given, old_bytes);
		free(given);
	}
	return p;
}

/* ---- error texts ---- */

static const char *const error_texts[] = {
#include "errors.h"
};

char *strerror(int number)
{
	if (number < 0 || (size_t)number >= sizeof(error_texts) / sizeof(*error_texts) || !error_texts[number])
		return "Unknown error";
	return (char *)error_texts[number];
}

/* ---- 128 bits ---- */

typedef unsigned __int128 u128;
union halves { u128 all; struct { uint64_t low, high; }; };

u128 __multi3(u128 x, u128 y)
{
	union halves a = { x }, b = { y }, r;
	uint64_t a0 = (uint32_t)a.low, a1 = a.low >> 32, b0 = (uint32_t)b.low, b1 = b.low >> 32;
	uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
	uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;

	r.low = (uint32_t)p00 | middle << 32;
	r.high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32) + a.low * b.high + a.high * b.low;
	return r.all;
}

static u128 divide(u128 n, u128 d, u128 *rest)
{
	union halves a = { n }, b = { d }, q = { 0 }, r = { 0 };

	if (!a.high && !b.high) {
		*rest = a.low % b.low;
		return a.low / b.low;
	}
	for (int i = 127; i >= 0; i--) {
		r.high = r.high << 1 | r.low >> 63;
		r.low = r.low << 1 | ((i >= 64 ? a.high >> (i - 64) : a.low >> i) & 1);
		if (r.high > b.high || (r.high == b.high && r.low >= b.low)) {
			r.high -= b.high + (r.low < b.low);
			r.low -= b.low;
			if (i >= 64)
				q.high |= 1ull << (i - 64);
			else
				q.low |= 1ull << i;
		}
	}
	*rest = r.all;
	return q.all;
}

u128 __udivti3(u128 n, u128 d) { u128 rest; return divide(n, d, &rest); }
u128 __umodti3(u128 n, u128 d) { u128 rest; divide(n, d, &rest); return rest; }
u128 __ashlti3(u128 x, int n)
{
	union halves a = { x }, r;

	if (!n)
		return x;
	r.high = n >= 64 ? a.low << (n - 64) : a.high << n | a.low >> (64 - n);
	r.low = n >= 64 ? 0 : a.low << n;
	return r.all;
}
u128 __lshrti3(u128 x, int n)
{
	union halves a = { x }, r;

	if (!n)
		return x;
	r.low = n >= 64 ? a.high >> (n - 64) : a.low >> n | a.high << (64 - n);
	r.high = n >= 64 ? 0 : a.high >> n;
	return r.all;
}

/* ---- floating-point numbers, none of them subnormal ---- */

union parts { double number; uint64_t bits; };

double frexp(double x, int *exponent)
{
	union parts all = { x };

	*exponent = (int)(all.bits >> 52 & 0x7ff) - 1022;
	all.bits = (all.bits & ~(0x7ffull << 52)) | 1022ull << 52;
	return all.number;
}

double ldexp(double x, int exponent)
{
	union parts all = { x };

	all.bits += (uint64_t)exponent << 52;
	return all.number;
}
