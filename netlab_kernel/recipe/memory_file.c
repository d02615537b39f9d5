	/* Not a file on a disk, to which the host would write it back, with another page fault at the first write to each page. */
	fd = memfd_create("memory", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate64(fd, len) < 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		fd = create_tmp_file(len);
