"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "eba4dbcd663163b2f46c550d9c3d1522465aa08b835283368ebc86fa5098a7d3"
LIBRARY = "b6b9d60da0aabd8df6da81a5ae8001ef5073e0843f4d2c296d30841ef01598e1"
WASM = "23fa4f3a0552fefcff8dd2d1efaeede5153d0c9f9f27dddc8a79d7317b00668d"
