"""Tasks: plain functions from files to files, which know nothing of what runs them.

Each task handles one box, or one chunk of the input. It reads the files of earlier tasks, calls the
same stages as a fit in memory, writes arrays of its own box, and returns the few numbers that the
plan needs.
"""
