"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "1fac393b1d83b83832d00c5ae691d274e2de8839e2ffbdb484e5c5d49c7acd98"
LIBRARY = "b6b9d60da0aabd8df6da81a5ae8001ef5073e0843f4d2c296d30841ef01598e1"
WASM = "23fa4f3a0552fefcff8dd2d1efaeede5153d0c9f9f27dddc8a79d7317b00668d"
