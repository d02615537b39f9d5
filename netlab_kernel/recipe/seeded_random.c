/*
 * The bytes with which the guest's random generator starts. With netlab_seed=<number> on the command line
 * they follow from the number (SplitMix64: Steele, Lea and Flood, OOPSLA 2014), so that
 * equal runs draw equal numbers; without it they come from the host.
 */
static unsigned long long netlab_seed_state;
static int netlab_seed_given;

static int __init netlab_seed_param(char *text, int *add)
{
	char *end;

	errno = 0;
	netlab_seed_state = strtoull(text, &end, 0);
	netlab_seed_given = errno == 0 && end != text && *end == '\0';
	if (!netlab_seed_given)
		os_warn("netlab_seed: '%s' is not a number of 64 bits; the host's randomness is used\n", text);
	*add = 0;
	return 0;
}

__uml_setup("netlab_seed=", netlab_seed_param,
"netlab_seed=<number of 64 bits>\n"
"    Start the random generator from this number instead of the host's\n"
"    getrandom(). Together with time-travel-start= a run can be repeated.\n\n");

/* A guest that was started before its plan was known gets its seed with the plan. */
void netlab_set_seed(unsigned long long seed)
{
	netlab_seed_state = seed;
	netlab_seed_given = 1;
}

static unsigned long long netlab_seed_next(void)
{
	unsigned long long z = netlab_seed_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *bytes = buf;
	unsigned long long word = 0;
	size_t i;

	if (!netlab_seed_given)
		return getrandom(buf, len, flags);
	for (i = 0; i < len; i++) {
		if (i % 8 == 0)
			word = netlab_seed_next();
		bytes[i] = word >> (8 * (i % 8));
	}
	return len;
}
