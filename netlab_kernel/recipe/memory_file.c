	/* A file on a disk would be written there, and each first write to a page of it costs another page fault. */
	fd = memfd_create("memory", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate64(fd, len) < 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		fd = create_tmp_file(len);
