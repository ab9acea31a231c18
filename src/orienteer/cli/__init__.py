"""The command line; it only talks to the front door."""
