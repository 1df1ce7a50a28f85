"""Checks of the arguments of public functions.

A check returns its argument in the form that the code works with, or raises an error that states
the value that was passed, the values that are accepted, and the change that fixes it. Each module
is named for the arguments that it checks. Public functions check their arguments once, and pass the
results to private functions that do not check again.
"""
