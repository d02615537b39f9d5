// SPDX-License-Identifier: BSD-3-Clause
/*
 * mnexec: starts a command as Mininet's program of this name does, so that a machine needs no package for it. The options are
 * the ones of Mininet (see its manual page):
 *
 *   mnexec [-c] [-d] [-n] [-p] [-a PID] [-g GROUP] [-r PRIORITY] command args...
 *
 *   -c  close every file descriptor but 0, 1 and 2
 *   -d  run without the terminal, in a session of its own
 *   -n  run in a new network namespace, with a mount namespace whose /sys belongs to it; if the last argument is
 *       mininet:NAME, as for the shell of a host, also with that hostname
 *   -p  print "\001" and the process id on a line before the command starts
 *   -a  join the network, mount and hostname namespaces of process PID first
 *   -g  join control group GROUP (ignored without control groups, because the pocket kernel has no controllers)
 *   -r  run with real-time priority PRIORITY (round robin)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "mnexec: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(FILE *where)
{
	fputs("usage: mnexec [-cdnp] [-a pid] [-g group] [-r priority] command args...\n", where);
}

static int number(const char *text, const char *what)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > INT_MAX) {
		fprintf(stderr, "mnexec: %s must be a number, got '%s'\n", what, text);
		exit(1);
	}
	return (int)value;
}

static void close_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd;

	if (!dir) {
		for (fd = (int)sysconf(_SC_OPEN_MAX) - 1; fd > 2; fd--)
			close(fd);
		return;
	}
	/* Closing while reading skips no entry: procfs lists by descriptor number. */
	while ((entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd > 2 && fd != dirfd(dir))
			close(fd);
	}
	closedir(dir);
}

static void detach(void)
{
	/* Fork, because the leader of a process group may not start a session. */
	if (getpgrp() == getpid()) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (child > 0)
			_exit(0);
	}
	if (setsid() < 0)
		fail("setsid");
}

static void new_network(const char *last_argument)
{
	static const char prefix[] = "mininet:";

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
		fail("new network namespace");
	if (!strncmp(last_argument, prefix, strlen(prefix))) {
		const char *name = last_argument + strlen(prefix);

		if (unshare(CLONE_NEWUTS) < 0 || sethostname(name, strnlen(name, HOST_NAME_MAX)) < 0)
			fail("hostname");
	}
	/* Otherwise the new /sys would appear in the parent's mounts, too. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fail("private mounts");
	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		fail("mount /sys");
}

static void join(int pid, const char *kind, int type, int required)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, type) < 0) {
		if (required)
			fail(path);
		if (fd < 0)
			return;
	}
	close(fd);
}

static void attach(int pid)
{
	char *cwd = getcwd(NULL, 0);

	join(pid, "net", CLONE_NEWNET, 1);
	join(pid, "uts", CLONE_NEWUTS, 0);
	join(pid, "mnt", CLONE_NEWNS, 0);
	/* Joining a mount namespace moves the working directory to its root. */
	if (cwd && chdir(cwd) < 0)
		fail(cwd);
	free(cwd);
}

static void join_group(const char *group)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/cpu",
					     "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpuset" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/cgroup.procs", roots[i], group);
		file = fopen(path, "w");
		if (!file)
			continue;
		fprintf(file, "%d\n", (int)getpid());
		if (fclose(file))
			fail(path);
	}
}

int main(int argc, char *argv[])
{
	int option;

	/* "+" leaves the options after the command to the command. */
	while ((option = getopt(argc, argv, "+cdnpa:g:r:hv")) != -1) {
		struct sched_param priority = { 0 };

		switch (option) {
		case 'c':
			close_files();
			break;
		case 'd':
			detach();
			break;
		case 'n':
			new_network(argv[argc - 1]);
			break;
		case 'p':
			printf("\001%d\n", (int)getpid());
			fflush(stdout);
			break;
		case 'a':
			attach(number(optarg, "pid"));
			break;
		case 'g':
			join_group(optarg);
			break;
		case 'r':
			priority.sched_priority = number(optarg, "priority");
			if (sched_setscheduler(0, SCHED_RR, &priority) < 0)
				fail("real-time priority");
			break;
		case 'v':
			puts("netlab mnexec");
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 1;
		}
	}
	if (optind < argc) {
		execvp(argv[optind], &argv[optind]);
		fail(argv[optind]);
	}
	usage(stderr);
	return 1;
}
