"""The hashes of the recipes of this version's kernels. Made by `python -m netlab_kernel.recipes`: change a recipe instead."""

POCKET = "f88d1a3f85a6e5b0785532f4840235b3e7c7e0e3cd9aa66ff33dec55b3810fa6"
LIBRARY = "5eaef99369dba190b0c2071dfb3890cf80be854b76cecf34938e42d54ab8e55b"
WASM = "20ffc3a332091c2211e2ab9ef5ca954ddc61134c5471a5dd6114a41b362a09ef"
