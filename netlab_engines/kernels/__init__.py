"""Built kernels, where they are and what they can do; `netlab_kernel` builds them."""
