"""`netlab new-chapter`: create the skeleton of a chapter, which can be executed as it is."""
