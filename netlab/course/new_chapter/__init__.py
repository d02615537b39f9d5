"""`netlab new-chapter`: the skeleton of a chapter, which runs as it is."""
