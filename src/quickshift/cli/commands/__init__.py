"""The commands, one per file: options, then what the command does with them."""
