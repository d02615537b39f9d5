"""What the tests of the kernel's room share."""

import pytest

# The places of a kernel source that netlab changes, as 6.12 to 7.3 have them, with a little around.
PLACES = {
    "arch/um/Kconfig": "config NO_DMA\n\tdef_bool y\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig NR_CPUS\n\tint\n",
    "arch/um/os-Linux/util.c": (
        "#include <sys/random.h>\n\n"
        "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n"
        "{\n\treturn getrandom(buf, len, flags);\n}\n\n"
        "void os_dump_core(void)\n{\n\tint pid;\n}\n"
    ),
    "drivers/char/random.c": "\tarch_bits();\n\t_mix_pool_bytes(command_line, strlen(command_line));\n\n\tdone();\n",
    "net/ipv4/Kconfig": 'config TCP_CONG_DCTCP\n\ttristate\n\nconfig TCP_CONG_BBR\n\ttristate "BBR TCP"\n',
    "net/ipv4/Makefile": "obj-$(CONFIG_TCP_CONG_BBR) += tcp_bbr.o\nobj-$(CONFIG_TCP_CONG_CUBIC) += tcp_cubic.o\n",
}


@pytest.fixture
def places() -> dict[str, str]:
    """Texts of the files of a kernel source that netlab changes, by path."""
    return dict(PLACES)
