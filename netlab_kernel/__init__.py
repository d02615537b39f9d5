"""Linux kernels as ordinary programs, built once and kept in the user's cache: the pocket kernel and the library
kernel.

`building.build` makes the pocket kernel and the library kernel; `archive` copies them to other machines.
`netlab_engines.kernels` finds them and runs them.
"""
