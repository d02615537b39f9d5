"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "f88d1a3f85a6e5b0785532f4840235b3e7c7e0e3cd9aa66ff33dec55b3810fa6"
LIBRARY = "ad6ecd71f20fa9b6c146d3056983b0a9f0a827147a051b5db486713d1b461a1d"
WASM = "25b0799fd9b69badcce81ecbf67b154e1b91aaa4a378b09366e7a6da92f77ec8"
