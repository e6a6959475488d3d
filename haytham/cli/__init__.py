"""The command line: translates between a terminal and the managers."""
