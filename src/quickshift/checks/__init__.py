"""Every check of an argument: what came, what was expected, and the change that fixes it.

A check returns its argument in the form that the code works with, or raises an error. The modules
are named for what they check. Public functions check their arguments here and hand the results to
entries that do not check again.
"""
