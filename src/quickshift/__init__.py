"""Mode-seeking by Quick Shift: exact, fast, and for every tau at once."""

__version__ = "0.1.0.dev0"
