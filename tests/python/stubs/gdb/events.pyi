"""gdb's events, of which each version has its own."""
