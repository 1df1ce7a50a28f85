"""Files of users: the only part of the command line that reads or writes them."""
