"""The compiler that reads the kernel's common headers once (recipe/library/headers/cc)."""

import shutil
import subprocess

import pytest

from netlab_kernel import library_build

COMMON = "static inline int three(void) { return 3; }\n#define NAME KBUILD_MODNAME\n"
SOURCE = '#include "kernel.h"\nconst char *name = NAME;\nint number(void) { return three(); }\n'


@pytest.fixture
def tree(tmp_path):
    """A tree of three files, with a `kernel.h` of its own."""
    headers = tmp_path / "headers"
    headers.mkdir()
    for name in ("cc", "names.h"):
        shutil.copy(library_build.HOME / "headers" / name, headers)
    (headers / "kernel.h").write_text("#pragma once\n" + COMMON)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "kernel.h").write_text("#ifndef NAME\n" + COMMON + "#endif\n")
    (tmp_path / "kernel").mkdir()
    for name in ("first", "second", "third"):
        (tmp_path / "kernel" / f"{name}.c").write_text(SOURCE)
    return tmp_path


def compile_one(tree, name, *flags):
    created = tree / f"{name}.o"
    words = ["sh", "headers/cc", "-Iown", *flags, "-DKBUILD_BASENAME=1", "-DKBUILD_MODFILE=1", "-D__KBUILD_MODNAME=1"]
    subprocess.run(
        [*words, f'-DKBUILD_MODNAME="{name}!"', "-c", "-o", str(created), f"kernel/{name}.c"], cwd=tree, check=True
    )
    return created.read_bytes()


def test_headers_are_read_once_and_each_file_keeps_its_own_name(tree):
    assert b"first!" in compile_one(tree, "first", "-O2")
    # The compiler does not read a precompiled header again: this text would stop it.
    (tree / "own" / "kernel.h").write_text("#ifndef NAME\n#error read again\n#endif\n")
    second = compile_one(tree, "second", "-O2")
    assert b"second!" in second and b"first!" not in second


@pytest.mark.parametrize(
    ("flag", "source"), [("-O1", SOURCE), ("-O2", "int three; const char *name = KBUILD_MODNAME;")]
)
def test_a_file_with_other_flags_or_another_use_of_a_name_is_compiled_as_asked(tree, flag, source):
    compile_one(tree, "first", "-O2")
    assert (tree / "headers" / "kernel.h.gch").exists()
    (tree / "kernel" / "third.c").write_text(source)
    assert b"third!" in compile_one(tree, "third", flag)


def test_the_compiler_answers_questions_as_gcc_does(tree):
    output, gcc = (
        subprocess.run([*words, "--version"], cwd=tree, capture_output=True, check=True).stdout
        for words in (["sh", "headers/cc"], ["gcc"])
    )
    assert output == gcc
