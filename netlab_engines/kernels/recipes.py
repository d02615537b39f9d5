"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "17ad2e503dacfc998789a9d956f8e13a32d8c45f8b12f33deb88ec68f7e4e84e"
LIBRARY = "faf57ae98b6ee5cb7e98102ed2cd0193134540bb369a15ff1a5115db1004ea2a"
WASM = "3eaf61d85ba3325dc8d1c0edc7a0a39c78468289faa9d99c51a9240770bbd32c"
