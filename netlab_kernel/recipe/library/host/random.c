// SPDX-License-Identifier: GPL-2.0
/*
 * MT19937 with initialisation by an array and 53-bit fractions (M. Matsumoto and T. Nishimura, ACM TOMACS 8, 1998): the
 * numbers that Python's random.Random(seed).random() gives, so that a seed spaces datagrams here as it does there.
 */
#include <math.h>
#include "kernel.h"

#define N 624
#define M 397

static void start_from(struct twister *twister, uint32_t seed)
{
	uint32_t *x = twister->state;

	x[0] = seed;
	for (int i = 1; i < N; i++)
		x[i] = 1812433253u * (x[i - 1] ^ (x[i - 1] >> 30)) + i;
	twister->place = N;
}

void twister_start(struct twister *twister, const uint32_t *key, int words)
{
	uint32_t *x = twister->state;
	int i = 1, j = 0;

	start_from(twister, 19650218u);
	for (int k = N > words ? N : words; k; k--) {
		x[i] = (x[i] ^ ((x[i - 1] ^ (x[i - 1] >> 30)) * 1664525u)) + key[j] + j;
		if (++i >= N) {
			x[0] = x[N - 1];
			i = 1;
		}
		if (++j >= words)
			j = 0;
	}
	for (int k = N - 1; k; k--) {
		x[i] = (x[i] ^ ((x[i - 1] ^ (x[i - 1] >> 30)) * 1566083941u)) - i;
		if (++i >= N) {
			x[0] = x[N - 1];
			i = 1;
		}
	}
	x[0] = 0x80000000u;
}

uint32_t twister_word(struct twister *twister)
{
	uint32_t *x = twister->state, y;

	if (twister->place >= N) {
		for (int k = 0; k < N; k++) {
			y = (x[k] & 0x80000000u) | (x[(k + 1) % N] & 0x7fffffffu);
			x[k] = x[(k + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
		}
		twister->place = 0;
	}
	y = x[twister->place++];
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

double twister_next(struct twister *twister)
{
	uint32_t a = twister_word(twister) >> 5, b = twister_word(twister) >> 6;

	return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

/*
 * Return the n-th root of a number from 0 up to 1. pow() rounds differently on other processors, so this repeats the steps of
 * nth_root() in netlab_engines/sockets/moments.py.
 */
double nth_root(double value, uint64_t n)
{
	static const double exp_terms[] = {
		1 / 87178291200.0, 1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0,
		1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 1 / 2.0, 1.0, 1.0,
	};
	const double ln_2 = 0.6931471805599453;
	int exponent, doublings;
	double fraction, t, power, rest, series = 0;

	if (value == 0)
		return 0;
	fraction = frexp(value, &exponent);
	if (fraction < 0.7071067811865476) {
		fraction *= 2;
		exponent--;
	}
	/* log(x) = 2 artanh((x - 1) / (x + 1)) */
	t = (fraction - 1) / (fraction + 1);
	for (int odd = 21; odd > 0; odd -= 2)
		series = series * (t * t) + 1.0 / odd;
	power = (exponent * ln_2 + 2 * t * series) / n;
	doublings = power / ln_2 - 0.5;
	rest = power - doublings * ln_2;
	series = 0;
	for (size_t i = 0; i < sizeof(exp_terms) / sizeof(*exp_terms); i++)
		series = series * rest + exp_terms[i];
	return ldexp(series, doublings);
}
