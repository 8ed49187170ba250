"""Models: which there are, what is known about them, and how to write one."""
