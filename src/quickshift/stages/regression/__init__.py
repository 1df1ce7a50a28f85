"""Modal regression: the joint estimate, its conditional modes, sets around them, their branches."""
