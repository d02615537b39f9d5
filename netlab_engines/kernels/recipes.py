"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "6ef13e2eb062c7a7a397082c161a7b4ae5c6c36cf11d40d5bd18ae3443b0b705"
LIBRARY = "b6b9d60da0aabd8df6da81a5ae8001ef5073e0843f4d2c296d30841ef01598e1"
WASM = "23fa4f3a0552fefcff8dd2d1efaeede5153d0c9f9f27dddc8a79d7317b00668d"
