"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "73f916b56f857869ef3b145f51ecf73b992457dd054143a9b3063cff6107f6c9"
LIBRARY = "faf57ae98b6ee5cb7e98102ed2cd0193134540bb369a15ff1a5115db1004ea2a"
WASM = "3eaf61d85ba3325dc8d1c0edc7a0a39c78468289faa9d99c51a9240770bbd32c"
