"""The sample chapter is data: it can be imported only while a test wants it."""

collect_ignore = ["sample"]
