"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "d06f9bc628d26bc325b7a6ffd958ce31dc67220fc8a1c4d1047aea413184fc7d"
LIBRARY = "faf57ae98b6ee5cb7e98102ed2cd0193134540bb369a15ff1a5115db1004ea2a"
WASM = "3eaf61d85ba3325dc8d1c0edc7a0a39c78468289faa9d99c51a9240770bbd32c"
