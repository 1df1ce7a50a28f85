"""Studies: the theorems of the paper, measured; see README.md for the form of a study."""
