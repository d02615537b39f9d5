"""What the notebooks of the chapters import: a folder for each, with its settings, its checks and its panel."""
